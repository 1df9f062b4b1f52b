/** After a mutation, later reads of its caller from a replica include it. Must follow useCompiledQueries. */
import type { Services } from '../../domain/call.ts';
import { noteChange } from '../../domain/viewer/accepted-age.ts';
import type { OperationPlugin } from '../execution/operation-context.ts';

export function useReadYourWrites(services: Services): OperationPlugin {
  return {
    onExecute({ context, executeFn, setExecuteFn }) {
      if (context.operation?.operation !== 'mutation') return;
      setExecuteFn(async (args) => {
        try {
          return await executeFn(args);
        } finally {
          await noteChange(services, context.viewer);
        }
      });
    },
  };
}
