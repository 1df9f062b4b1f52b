/** Builds the smallest valid request of an operation of the OpenAPI document. */
export interface JsonSchema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  minimum?: number;
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

export interface Operation {
  method: string;
  /** The path below /v1. */
  path: string;
  operationId: string;
  description: string;
  security?: Record<string, string[]>[];
  parameters?: {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema: JsonSchema;
  }[];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
}

interface Document {
  paths?: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>;
}

export function listOperations(document: unknown): Operation[] {
  return Object.entries((document as Document).paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
}

/** Returns a value of the schema that names nothing that exists. Omits optional members. */
export function createMinimalValue(schema: JsonSchema): unknown {
  if (schema.anyOf) return createMinimalValue(schema.anyOf[0] as JsonSchema);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const { properties = {}, required = [] } = schema;
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        required.map((name) => [name, createMinimalValue(properties[name] as JsonSchema)]),
      );
    case 'array':
      return [createMinimalValue(schema.items ?? {})];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return schema.format === 'date-time' ? '2026-01-01T00:00:00Z' : 'unknown.example';
  }
}
