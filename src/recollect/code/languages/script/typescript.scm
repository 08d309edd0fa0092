; What TypeScript adds to JavaScript.

[(function_signature) (abstract_method_signature)] @function
(class_body (method_signature) @function)
[(abstract_class_declaration) (interface_declaration) (type_alias_declaration) (enum_declaration)] @class
(internal_module) @class

(interface_body [(method_signature) @function (property_signature) @field])
(type_alias_declaration value: (object_type [(method_signature) @function (property_signature) @field]))
(internal_module body: (statement_block [
  (lexical_declaration (variable_declarator name: (identifier)) @variable)
  (export_statement (lexical_declaration (variable_declarator name: (identifier)) @variable))]))
(ambient_declaration [
  (lexical_declaration (variable_declarator name: (identifier)) @variable)
  (variable_declaration (variable_declarator name: (identifier)) @variable)])

(public_field_definition) @field
(variable_declarator type: (_)) @given
[(required_parameter pattern: (identifier) type: (_)) (optional_parameter pattern: (identifier) type: (_))] @typed
(type_identifier) @use
