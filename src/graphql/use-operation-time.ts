/** Ends the answer to an operation that takes too long; its statements end by the database's own timeout. */
import { getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Config } from '../config.ts';
import { toGraphQLError } from './errors.ts';

export function useOperationTime(config: Config): Plugin {
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const isMutation =
        getOperationAST(args.document, args.operationName)?.operation === 'mutation';
      const maximum = isMutation ? config.LIMIT_MUTATION_MS : config.LIMIT_QUERY_MS;
      setExecuteFn(async (executed) => {
        let timer: NodeJS.Timeout | undefined;
        const tooLong = new Promise((resolve) => {
          timer = setTimeout(() => resolve({ errors: [outOfTime(isMutation, maximum)] }), maximum);
        });
        try {
          return await Promise.race([executeFn(executed), tooLong]);
        } finally {
          clearTimeout(timer);
        }
      });
    },
  };
}

function outOfTime(isMutation: boolean, maximum: number) {
  const after = isMutation
    ? ' What it had begun may still be done: look before you repeat it.'
    : '';
  const detail = `The operation took longer than ${maximum} ms.${after}`;
  return toGraphQLError('QUERY_LIMIT_EXCEEDED', detail, { extra: { limit: 'time', maximum } });
}
