/** Values of the schemas of the OpenAPI document: with all that may be there, and with no more than must be. */
export interface DocumentSchema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  minimum?: number;
  anyOf?: DocumentSchema[];
  items?: DocumentSchema;
  properties?: Record<string, DocumentSchema>;
  additionalProperties?: DocumentSchema | boolean;
  required?: string[];
}

interface Sampling {
  components: Record<string, DocumentSchema>;
  isWhole: boolean;
}

export function sampleOf(given: DocumentSchema, sampling: Sampling): unknown {
  const schema = resolved(given, sampling);
  if (schema.anyOf) return sampleOf(schema.anyOf[0] as DocumentSchema, sampling);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  switch (schema.type) {
    case 'object':
      return sampleOfObject(schema, sampling);
    case 'array':
      return sampling.isWhole ? [sampleOf(schema.items ?? {}, sampling)] : [];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return schema.format === 'date-time' ? '2026-01-01T00:00:00Z' : 'text';
  }
}

function sampleOfObject(schema: DocumentSchema, sampling: Sampling): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties: others } = schema;
  const names = sampling.isWhole ? Object.keys(properties) : required;
  const members = names.map((name) => [
    name,
    sampleOf(properties[name] as DocumentSchema, sampling),
  ]);
  const isMap = sampling.isWhole && typeof others === 'object' && Object.keys(others).length > 0;
  return Object.fromEntries(isMap ? [...members, ['name', sampleOf(others, sampling)]] : members);
}

export function resolved({ $ref, ...schema }: DocumentSchema, { components }: Sampling) {
  return $ref ? (components[$ref.split('/').at(-1) as string] as DocumentSchema) : schema;
}
