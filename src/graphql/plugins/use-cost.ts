/**
 * Refuses operations that exceed LIMIT_COST or have too long lists in variables. Adds `extensions.cost` on
 * request, and to each result of a project's typed API.
 */
import type { GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type { Config } from '../../config.ts';
import { findLongList } from '../../domain/storable-input.ts';
import { invalidInput } from '../../errors.ts';
import type { OperationPlugin } from '../execution/operation-context.ts';
import { type CostFunction, createCostFunction, findCostError } from '../execution/query-limits.ts';

export function useCost(config: Config): OperationPlugin {
  // A schema that is no longer cached can be collected, although a cached document still has the operation.
  const costsBySchema = new WeakMap<
    GraphQLSchema,
    WeakMap<OperationDefinitionNode, CostFunction>
  >();
  return {
    onContextBuilding({ context, extendContext }) {
      const { document, operation, params, schema } = context;
      if (!document || !operation || !schema) return;
      let costs = costsBySchema.get(schema);
      if (!costs) {
        costs = new WeakMap();
        costsBySchema.set(schema, costs);
      }
      let costOf = costs.get(operation);
      if (!costOf) {
        costOf = createCostFunction(schema, document, operation);
        costs.set(operation, costOf);
      }
      const cost = costOf(params.variables);
      extendContext({ cost });
      const error = findCostError(cost, config);
      if (error) throw error;
      // graphql-js checks each item of a list before any of our rules is applied.
      const longList = findLongList(params.variables);
      if (longList) throw invalidInput([longList]);
    },
    onExecute({ context }) {
      const { cost, wantsCost, operation, project } = context;
      if ((!wantsCost && !project) || operation?.operation === 'subscription') return;
      return {
        onExecuteDone({ result, setResult }) {
          const extensions = { cost: { ...cost, limit: config.LIMIT_COST } };
          setResult({ ...result, extensions });
        },
      };
    },
  };
}
