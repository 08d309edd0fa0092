; TypeScript calls them otherwise.

(field_definition) @field
