/**
 * Chooses the schema of an operation: the schema of /graphql, or the schema of a project's typed API. The caller decides
 * which projects are visible, so the plugin must follow useAdmission.
 */
import type { GraphQLSchema } from 'graphql';
import { createCall, type Services } from '../../domain/call.ts';
import { getVisibleContract } from '../../domain/contract/visible-contract.ts';
import { missingCredentials } from '../../errors.ts';
import type { OperationContext, OperationPlugin } from '../execution/operation-context.ts';
import { createTypedSchemas } from '../typed/typed-schema.ts';

export function useSchema(schema: GraphQLSchema, services: Services): OperationPlugin {
  const schemas = createTypedSchemas();
  const findProjectSchema = async ({ viewer, gatewayUrl }: OperationContext, idOrName: string) => {
    if (!viewer) throw missingCredentials();
    const call = createCall(services, viewer, { gatewayUrl });
    const { project, contract } = await getVisibleContract(call, idOrName);
    return { project, schema: schemas.get(contract) };
  };
  return {
    onContextBuilding({ context, extendContext }) {
      const { projectIdOrName } = context;
      if (projectIdOrName === undefined) return extendContext({ schema });
      return findProjectSchema(context, projectIdOrName).then(extendContext);
    },
    onExecute({ args, context }) {
      if (context.schema) args.schema = context.schema;
    },
    onSubscribe({ args, context }) {
      if (context.schema) args.schema = context.schema;
    },
  };
}
