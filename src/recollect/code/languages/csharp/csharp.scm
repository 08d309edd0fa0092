(method_declaration returns: (_) @returns name: (_) @name parameters: (_) @parameters) @function
(constructor_declaration name: (_) @name parameters: (_) @parameters) @function
(local_function_statement type: (_) @returns name: (_) @name parameters: (_) @parameters) @function
[(class_declaration name: (_) @name) (interface_declaration name: (_) @name) (struct_declaration name: (_) @name)
 (enum_declaration name: (_) @name) (record_declaration name: (_) @name) (delegate_declaration name: (_) @name)] @class
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @variable
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @variable
(property_declaration name: (_) @name) @variable

(base_list (_) @base)

(variable_declaration type: (_) @type (variable_declarator name: (_) @given))
(variable_declaration type: (implicit_type) (variable_declarator name: (_) @given (_) @value))
(property_declaration type: (_) @type name: (_) @given)
(parameter type: (_) @type name: (_) @given)
(foreach_statement type: (_) @type left: (identifier) @given)

[(namespace_declaration name: (_) @package) (file_scoped_namespace_declaration name: (_) @package)]
(using_directive) @import
(invocation_expression function: (_) @call)
(object_creation_expression type: (_) @call)
(attribute name: (_) @named)
(comment) @comment
