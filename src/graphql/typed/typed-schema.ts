/**
 * The schema of a project's typed API, created from a contract by graphql-js alone. Projects with equal contracts share
 * it, so resolvers take the project from the context. Each resolver calls one function of the domain.
 */
import { GraphQLObjectType, GraphQLSchema } from 'graphql';
import { listGeneratedObjects } from '../../domain/contract/formats/generated.ts';
import { createEnumNames } from '../../domain/contract/formats/graphql-names.ts';
import type { Contract } from '../../domain/contract/object-contract.ts';
import { createMutationFields } from './mutation-fields.ts';
import { createObjectTypes } from './object-types.ts';
import { createQueryFields } from './query-fields.ts';
import type { RootFields } from './root-field.ts';
import { createSubscriptionFields } from './subscription-fields.ts';

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

const MUTATION_DESCRIPTION =
  "Writes of records at customers' providers. A refusal by the provider is a result, and not an error.";

const SUBSCRIPTION_DESCRIPTION = 'Streams of changes, over WebSocket or server-sent events.';

/** GraphQL has no types without fields. */
function createRootType(name: string, fields: RootFields, description: string) {
  const isEmpty = Object.keys(fields).length === 0;
  return isEmpty ? null : new GraphQLObjectType({ name, description, fields });
}
