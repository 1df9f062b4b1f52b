/** Limits the time of queries and mutations. The database's own timeout ends their statements. */
import type { Services } from '../../domain/access/call.ts';
import { createTimeoutError, getOperationMsMax, withDeadline } from '../../work/deadline.ts';
import type { OperationPlugin } from '../execution/operation-context.ts';

export function useDeadline({ config, database }: Services): OperationPlugin {
  return {
    onExecute({ context, executeFn, setExecuteFn }) {
      const kind = context.operation?.operation;
      if (kind === 'subscription') return;
      const isChange = kind === 'mutation';
      const maximumMs = getOperationMsMax(config, { isChange });
      setExecuteFn((args) => {
        const execution = executeFn(args);
        if (!(execution instanceof Promise)) return execution;
        return withDeadline(execution, maximumMs, () => {
          throw database.outages.replaceTimeoutError(
            createTimeoutError('operation', { isChange, maximumMs }),
          );
        });
      });
    },
  };
}
