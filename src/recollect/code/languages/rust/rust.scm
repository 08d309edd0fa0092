(function_item name: (_) @name parameters: (_) @parameters return_type: (_)? @returns) @function
(function_signature_item name: (_) @name parameters: (_) @parameters return_type: (_)? @returns) @function
(macro_definition name: (_) @name) @function
[(struct_item name: (_) @name) (enum_item name: (_) @name) (union_item name: (_) @name) (trait_item name: (_) @name)
 (type_item name: (_) @name)] @class
(mod_item name: (_) @name body: (_)) @class
(impl_item type: (_) @name) @again
(source_file [(const_item name: (_) @name) (static_item name: (_) @name)] @variable)
(declaration_list [(const_item name: (_) @name) (static_item name: (_) @name)] @variable)

(trait_item bounds: (trait_bounds (_) @base))
(impl_item trait: (_) @base)

(field_declaration name: (_) @given type: (_) @type)
(parameter pattern: (identifier) @given type: (_) @type)
(let_declaration pattern: (identifier) @given type: (_) @type)
(let_declaration pattern: (identifier) @given !type value: (_) @value)

(use_declaration) @import
(mod_item !body) @import
(call_expression function: (_) @call)
(macro_invocation macro: (_) @call)
(struct_expression name: (_) @call)
[(line_comment) (block_comment)] @comment
(attribute_item) @attribute
