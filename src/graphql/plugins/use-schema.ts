/**
 * Chooses the schema of an operation: the schema of /graphql, or the schema of a project's typed API. Then validates the
 * documents that must not be validated before their caller is identified.
 */
import type { GraphQLSchema } from 'graphql';
import { createCall, type Services } from '../../domain/access/call.ts';
import { getVisibleContract } from '../../domain/data/contract/visible-contract.ts';
import { missingCredentials } from '../../kernel/errors.ts';
import type { OperationContext, OperationPlugin } from '../execution/operation-context.ts';
import { createTypedSchemas } from '../typed/typed-schema.ts';

/** Must follow useAdmission, because the caller decides which projects are visible. */
export function useSchema(schema: GraphQLSchema, services: Services): OperationPlugin {
  const schemas = createTypedSchemas();
  const getProjectSchema = async ({ viewer, gatewayUrl }: OperationContext, idOrName: string) => {
    if (!viewer) throw missingCredentials();
    const call = createCall(services, viewer, { gatewayUrl });
    const { project, contract } = await getVisibleContract(call, idOrName);
    return { project, schema: schemas.get(contract) };
  };
  return {
    onContextBuilding({ context, extendContext }) {
      const { projectIdOrName } = context;
      const use = (chosen: Pick<OperationContext, 'project'> & { schema: GraphQLSchema }) => {
        extendContext(chosen);
        const errors = context.validateLater?.(chosen.schema) ?? [];
        if (errors.length > 0) throw new AggregateError(errors);
      };
      if (projectIdOrName === undefined) return use({ schema });
      return getProjectSchema(context, projectIdOrName).then(use);
    },
    onExecute({ args, context }) {
      if (context.schema) args.schema = context.schema;
    },
    onSubscribe({ args, context }) {
      if (context.schema) args.schema = context.schema;
    },
  };
}
