/**
 * Creates the schemas of typed APIs from contracts, with graphql-js alone. Projects with equal contracts share a
 * schema, so resolvers take the project from the context. Each resolver calls one function of the domain.
 */
import { GraphQLObjectType, GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Contract } from '../../domain/data/contract/contract-resource.ts';
import { listGeneratedObjects } from '../../domain/data/contract/formats/generated.ts';
import { createEnumNames } from '../../domain/data/contract/formats/graphql-names.ts';
import { createMutationFields } from './mutation-fields.ts';
import { createObjectTypes } from './object-types.ts';
import { createQueryFields } from './query-fields.ts';
import type { RootFields } from './root-field.ts';
import { createSubscriptionFields } from './subscription-fields.ts';

const MUTATION_DESCRIPTION =
  "Writes of records at customers' providers. A refusal by the provider is a result, and not an error.";

const SUBSCRIPTION_DESCRIPTION = 'Streams of changes, over WebSocket or server-sent events.';

/** Bounds the memory of cached schemas. A removed schema lives until the requests that use it end. */
const SCHEMAS_BYTES_MAX = 128 * 1024 * 1024;
/**
 * Memory of a schema for each field of its contract, in all its types together. Measured by
 * `bench/contract/typed-api.ts`.
 */
const BYTES_PER_FIELD = 1_650;
/** Memory of an object's types without its fields. */
const BYTES_PER_OBJECT = 20_000;

/** Caches the schemas by contract, whichever projects and callers use them. */
interface TypedSchemas {
  /** The memory that the cached schemas use. */
  readonly bytes: number;
  get(contract: Contract): GraphQLSchema;
}

export function createTypedSchemas(bytesMax = SCHEMAS_BYTES_MAX): TypedSchemas {
  const schemas = new LRUCache<string, GraphQLSchema>({ maxSize: bytesMax });
  return {
    get bytes() {
      return schemas.calculatedSize;
    },
    get(contract) {
      const cached = schemas.get(contract.hash);
      if (cached) return cached;
      const schema = createTypedSchema(contract);
      schemas.set(contract.hash, schema, { size: estimateBytes(contract) });
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

export function createTypedSchema(contract: Contract): GraphQLSchema {
  const objects = listGeneratedObjects(contract);
  const enums = createEnumNames(objects);
  const typedObjects = objects.map((object) => ({
    object,
    types: createObjectTypes(object, enums),
  }));
  return new GraphQLSchema({
    query: new GraphQLObjectType({
      name: 'Query',
      description: "Reads of records at customers' providers, as they are now.",
      fields: createQueryFields(contract.hash, typedObjects),
    }),
    mutation: createRootType('Mutation', createMutationFields(typedObjects), MUTATION_DESCRIPTION),
    subscription: createRootType(
      'Subscription',
      createSubscriptionFields(typedObjects),
      SUBSCRIPTION_DESCRIPTION,
    ),
    // Validating the schema takes longer than the first query. A test validates generated schemas.
    assumeValid: true,
  });
}

/** Returns null if there is no field, because GraphQL has no types without fields. */
function createRootType(name: string, fields: RootFields, description: string) {
  const isEmpty = Object.keys(fields).length === 0;
  return isEmpty ? null : new GraphQLObjectType({ name, description, fields });
}
