import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';

interface PreparedOperation {
  schema: GraphQLSchema;
  document: DocumentNode;
  operation: OperationDefinitionNode;
}

/**
 * Returns a function that creates a value once for each schema and operation. The cache holds schemas and operations
 * weakly. An unused schema is released even if a cached document still holds its operations.
 */
export function cacheByOperation<T extends object>(
  create: (prepared: PreparedOperation) => T,
): (prepared: PreparedOperation) => T {
  const valuesBySchema = new WeakMap<GraphQLSchema, WeakMap<OperationDefinitionNode, T>>();
  return (prepared) => {
    const { schema, operation } = prepared;
    const values = valuesBySchema.get(schema) ?? new WeakMap<OperationDefinitionNode, T>();
    valuesBySchema.set(schema, values);
    const value = values.get(operation) ?? create(prepared);
    values.set(operation, value);
    return value;
  };
}
