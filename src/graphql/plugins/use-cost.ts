/**
 * Refuses operations that exceed LIMIT_COST or have too long lists in variables. Adds `extensions.cost` on
 * request, and to each result of a project's typed API.
 */

import { findLongList } from '../../domain/base/storable-input.ts';
import { invalidInput } from '../../kernel/errors.ts';
import type { Config } from '../../settings/config.ts';
import { cacheByOperation } from '../execution/operation-cache.ts';
import type { OperationPlugin } from '../execution/operation-context.ts';
import { createCostFunction, findCostError } from '../execution/query-limits.ts';

export function useCost(config: Config): OperationPlugin {
  const getCostFunction = cacheByOperation(createCostFunction);
  return {
    onContextBuilding({ context, extendContext }) {
      const { document, operation, params, schema } = context;
      if (!document || !operation || !schema) return;
      const computeCost = getCostFunction({ schema, document, operation });
      const cost = computeCost(params.variables);
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
