(class_specifier name: (_) @name body: (_)) @class
(alias_declaration name: (_) @name) @class
(concept_definition name: (_) @name) @class
(field_declaration type: (_) @returns declarator: (function_declarator
  declarator: (field_identifier) @name parameters: (_) @parameters)) @function
(field_declaration type: (_) @returns declarator: (_ declarator: (function_declarator
  declarator: (field_identifier) @name parameters: (_) @parameters))) @function
(field_declaration_list (declaration declarator: (function_declarator
  declarator: (identifier) @name parameters: (_) @parameters)) @function)
(function_definition type: (_)? @returns declarator: (reference_declarator (function_declarator
  declarator: (_) @name parameters: (_) @parameters))) @function
(namespace_definition body: (declaration_list (declaration declarator: [
  (init_declarator declarator: (identifier) @name)
  (identifier) @name]) @variable))

(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)

(parameter_declaration type: (_) @type declarator: (reference_declarator (identifier) @given))
(field_declaration type: (_) @type declarator: (reference_declarator (field_identifier) @given))
(declaration type: (qualified_identifier) @type declarator: (identifier) @given)
(declaration type: (placeholder_type_specifier) declarator: (init_declarator
  declarator: (identifier) @given value: (_) @value))

(new_expression type: (_) @call)
