(method_declaration type: (_) @returns name: (_) @name parameters: (_) @parameters) @function
(constructor_declaration name: (_) @name parameters: (_) @parameters) @function
(compact_constructor_declaration name: (_) @name) @function
[(class_declaration name: (_) @name) (interface_declaration name: (_) @name) (enum_declaration name: (_) @name)
 (record_declaration name: (_) @name parameters: (_) @parameters) (annotation_type_declaration name: (_) @name)] @class
(field_declaration declarator: (variable_declarator name: (_) @name)) @variable
(constant_declaration declarator: (variable_declarator name: (_) @name)) @variable

(superclass (_) @base)
(super_interfaces (type_list (_) @base))
(extends_interfaces (type_list (_) @base))

(field_declaration type: (_) @type declarator: (variable_declarator name: (_) @given))
(formal_parameter type: (_) @type name: (_) @given)
(local_variable_declaration type: (type_identifier) @type declarator: (variable_declarator name: (_) @given))
(local_variable_declaration type: (generic_type) @type declarator: (variable_declarator name: (_) @given))
(local_variable_declaration type: (_) @_var declarator: (variable_declarator name: (_) @given value: (_) @value)
  (#eq? @_var "var"))
(enhanced_for_statement type: (_) @type name: (_) @given)
(resource type: (_) @type name: (_) @given)

(package_declaration (_) @package)
(import_declaration) @import
(method_invocation !object name: (_) @call)
(method_invocation object: (_) @receiver name: (_) @call)
(object_creation_expression type: (_) @call)
(explicit_constructor_invocation constructor: (_) @call)
[(annotation name: (_) @named) (marker_annotation name: (_) @named)]
[(line_comment) (block_comment)] @comment
