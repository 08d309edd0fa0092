(function_definition name: (_) @name parameters: (_) @parameters return_type: (_)? @returns) @function
(method_declaration name: (_) @name parameters: (_) @parameters return_type: (_)? @returns) @function
[(class_declaration name: (_) @name) (interface_declaration name: (_) @name) (trait_declaration name: (_) @name)
 (enum_declaration name: (_) @name)] @class
(const_declaration (const_element . (name) @name)) @variable
(property_declaration (property_element name: (variable_name (name) @name))) @variable

(base_clause (_) @base)
(class_interface_clause (_) @base)
(use_declaration (_) @base)

(property_declaration type: (_) @type (property_element name: (variable_name (name) @given)))
(property_promotion_parameter type: (_) @type name: (variable_name (name) @field))
(simple_parameter type: (_) @type name: (variable_name) @given)
(property_promotion_parameter type: (_) @type name: (variable_name) @given)
(assignment_expression left: (variable_name) @given right: (_) @value)
(assignment_expression
  left: (member_access_expression object: (variable_name) @_this name: (name) @field) right: (_) @value
  (#eq? @_this "$this"))

(namespace_definition name: (_) @package)
(namespace_use_declaration) @import
[(require_expression) (require_once_expression) (include_expression) (include_once_expression)] @import
(function_call_expression function: [(name) (qualified_name)] @call)
(member_call_expression object: (_) @receiver name: (name) @call)
(nullsafe_member_call_expression object: (_) @receiver name: (name) @call)
(scoped_call_expression scope: (_) @receiver name: (name) @call)
(object_creation_expression [(name) (qualified_name)] @call)
(comment) @comment
