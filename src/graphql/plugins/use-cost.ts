/** Refuses operations that exceed LIMIT_COST or have too long lists in variables. Adds `extensions.cost` on request. */
import type { OperationDefinitionNode } from 'graphql';
import type { Config } from '../../config.ts';
import { findLongList } from '../../domain/storable-input.ts';
import { invalidInput } from '../../errors.ts';
import type { OperationPlugin } from '../execution/operation-context.ts';
import { type Cost, costError, costFunction } from '../execution/query-limits.ts';
import { schema } from '../schema/schema.ts';

export function useCost(config: Config): OperationPlugin {
  const costs = new WeakMap<OperationDefinitionNode, Cost>();
  return {
    onContextBuilding({ context, extendContext }) {
      const { document, operation, params } = context;
      if (!document || !operation) return;
      let costOf = costs.get(operation);
      if (!costOf) {
        costOf = costFunction(schema, document, operation);
        costs.set(operation, costOf);
      }
      const cost = costOf(params.variables);
      extendContext({ cost });
      const error = costError(cost, config);
      if (error) throw error;
      // graphql-js checks each item of a list before any of our rules is applied.
      const longList = findLongList(params.variables);
      if (longList) throw invalidInput([longList]);
    },
    onExecute({ context }) {
      const { cost, wantsCost, operation } = context;
      if (!wantsCost || operation?.operation === 'subscription') return;
      return {
        onExecuteDone({ result, setResult }) {
          const extensions = { cost: { cost, limit: config.LIMIT_COST } };
          setResult({ ...result, extensions });
        },
      };
    },
  };
}
