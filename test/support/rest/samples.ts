/** Generates values of the OpenAPI document's schemas, with all members or only with the required ones. */
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

export function createSample(schemaOrReference: DocumentSchema, sampling: Sampling): unknown {
  const schema = resolveReference(schemaOrReference, sampling);
  if (schema.anyOf) return createSample(schema.anyOf[0] as DocumentSchema, sampling);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  switch (schema.type) {
    case 'object':
      return createObjectSample(schema, sampling);
    case 'array':
      return sampling.isWhole ? [createSample(schema.items ?? {}, sampling)] : [];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return schema.format === 'date-time' ? '2026-01-01T00:00:00Z' : 'text';
  }
}

function createObjectSample(schema: DocumentSchema, sampling: Sampling): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties: additionalMembers } = schema;
  const names = sampling.isWhole ? Object.keys(properties) : required;
  const members = names.map((name) => [
    name,
    createSample(properties[name] as DocumentSchema, sampling),
  ]);
  const isMap =
    sampling.isWhole &&
    typeof additionalMembers === 'object' &&
    Object.keys(additionalMembers).length > 0;
  return Object.fromEntries(
    isMap ? [...members, ['name', createSample(additionalMembers, sampling)]] : members,
  );
}

export function resolveReference({ $ref, ...schema }: DocumentSchema, { components }: Sampling) {
  return $ref ? (components[$ref.split('/').at(-1) as string] as DocumentSchema) : schema;
}
