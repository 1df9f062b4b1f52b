/**
 * Serializes the results of heavy operations in parts, so that other requests run in between, whatever transport sends
 * the result.
 */
import type { ExecutionResult } from 'graphql';
import { serializeInParts } from '../../work/serialize-in-parts.ts';
import { toPublicResult } from '../execution/graphql-errors.ts';
import { Message } from '../execution/message.ts';
import type { OperationPlugin } from '../execution/operation-context.ts';

/** Must follow plugins that change results, and precede plugins that observe how long an operation takes. */
export function useSerialization(): OperationPlugin {
  return {
    onExecute({ context: { pace } }) {
      if (!pace) return;
      return {
        async onExecuteDone({ result, setResult }) {
          const jsonParts = await serializeInParts(toPublicResult(result as ExecutionResult), pace);
          setResult(new Message({ ...result, jsonParts }));
        },
      };
    },
  };
}
