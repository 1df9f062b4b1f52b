/** The schemas of typed APIs: one for each contract, however many projects and callers share it. */
import type { GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Contract } from '../../domain/contract/object-contract.ts';
import { createTypedSchema } from './typed-schema.ts';

/** The most memory that cached schemas use. A schema that a request uses lives until its request ends. */
const SCHEMAS_BYTES_MAX = 128 * 1024 * 1024;
/** Memory of a schema for each field of its contract, in all its types together. Measured by `bench/contract/typed-api.ts`. */
const BYTES_PER_FIELD = 1_650;
/** Memory of an object's types without its fields. */
const BYTES_PER_OBJECT = 20_000;

export interface TypedSchemas {
  /** The memory that the cached schemas use. */
  readonly bytes: number;
  get(contract: Contract): GraphQLSchema;
}

export function createTypedSchemas(bytesMax = SCHEMAS_BYTES_MAX): TypedSchemas {
  const schemas = new LRUCache<string, { schema: GraphQLSchema; bytes: number }>({
    maxSize: bytesMax,
    sizeCalculation: ({ bytes }) => bytes,
  });
  return {
    get bytes() {
      return schemas.calculatedSize;
    },
    get(contract) {
      const cached = schemas.get(contract.hash);
      if (cached) return cached.schema;
      const schema = createTypedSchema(contract);
      schemas.set(contract.hash, { schema, bytes: estimateBytes(contract) });
      return schema;
    },
  };
}

function estimateBytes({ objects }: Contract): number {
  return objects.reduce(
    (sum, { fields }) => sum + BYTES_PER_OBJECT + fields.length * BYTES_PER_FIELD,
    BYTES_PER_OBJECT,
  );
}
