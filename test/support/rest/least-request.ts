/** The least that a request needs by the OpenAPI document. */
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
  /** Below /v1. */
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

export function operationsOf(document: unknown): Operation[] {
  return Object.entries((document as Document).paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
}

/** A body of the schema. If it has a mask, the field that this names has a value. */
export function bodyOf(schema: JsonSchema): unknown {
  const { updateMask, ...members } = schema.properties ?? {};
  if (!updateMask) return leastOf(schema);
  const [[member, values] = ['', {}]] = Object.entries(members);
  const named = leastOf(updateMask) as string[];
  return { updateMask: named, [member]: leastOf({ ...values, required: named }) };
}

/** A value of the schema, of nothing that exists; what need not be given is left out. */
export function leastOf(schema: JsonSchema): unknown {
  if (schema.anyOf) return leastOf(schema.anyOf[0] as JsonSchema);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const { properties = {}, required = [] } = schema;
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        required.map((name) => [name, leastOf(properties[name] as JsonSchema)]),
      );
    case 'array':
      return [leastOf(schema.items ?? {})];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return schema.format === 'date-time' ? '2026-01-01T00:00:00Z' : 'unknown.example';
  }
}
