; C++ has these patterns too, and those of its own folder.

(function_definition type: (_)? @returns declarator: (function_declarator
  declarator: (_) @name parameters: (_) @parameters)) @function
(function_definition type: (_)? @returns declarator: (_ declarator: (function_declarator
  declarator: (_) @name parameters: (_) @parameters))) @function
(preproc_function_def name: (_) @name parameters: (_) @parameters) @function
(struct_specifier name: (_) @name body: (_)) @class
(union_specifier name: (_) @name body: (_)) @class
(enum_specifier name: (_) @name body: (_)) @class
(type_definition declarator: (type_identifier) @name) @class
(translation_unit (preproc_def name: (_) @name value: (_)) @variable)
(translation_unit (preproc_ifdef (preproc_def name: (_) @name value: (_)) @variable))
(translation_unit (declaration declarator: [(init_declarator declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (array_declarator declarator: (identifier) @name)])
  (identifier) @name
  (array_declarator declarator: (identifier) @name)]) @variable)

(field_declaration type: (_) @type declarator: [
  (field_identifier) @given
  (pointer_declarator declarator: (field_identifier) @given)])
(parameter_declaration type: (_) @type declarator: [
  (identifier) @given
  (pointer_declarator declarator: (identifier) @given)])
(declaration type: (type_identifier) @type declarator: [
  (identifier) @given
  (pointer_declarator declarator: (identifier) @given)
  (init_declarator declarator: (identifier) @given)
  (init_declarator declarator: (pointer_declarator declarator: (identifier) @given))])

(preproc_include path: (_)) @import
(call_expression function: (_) @call)
(comment) @comment
