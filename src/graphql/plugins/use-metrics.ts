/** Measures operations: duration, outcome, cost and refusals. A subscription counts until its stream is open. */
import type { GraphQLError } from 'graphql';
import { findProjectId } from '../../domain/access/viewer/viewer.ts';
import { type Meters, OK, secondsSince } from '../../kernel/meters.ts';
import type { OperationContext, OperationPlugin } from '../execution/operation-context.ts';
import { useOutcome } from './use-outcome.ts';

/** Does nothing if METRICS_PORT is not set. */
export function useMetrics(meters: Meters): OperationPlugin {
  if (!meters.isOn) return {};
  return {
    onEnveloped({ extendContext }) {
      extendContext({ startMs: performance.now() });
    },
    onPluginInit({ addPlugin }) {
      addPlugin(useOutcome((context, errors) => recordOperation(meters, context, errors)));
    },
  };
}

function recordOperation(
  meters: Meters,
  { operation, viewer, cost, startMs = performance.now() }: OperationContext,
  errors: readonly GraphQLError[],
): void {
  if (cost !== undefined) meters.costComputed(cost.cost);
  for (const { extensions } of errors) {
    // Shares and rate limits count their own refusals.
    if (extensions.code !== 'QUERY_LIMIT_EXCEEDED') continue;
    const { limit } = (extensions.problem ?? {}) as { limit?: unknown };
    if (typeof limit === 'string') meters.limitRefused(limit.replaceAll(' ', '_'));
  }
  const [first] = errors;
  meters.requestEnded({
    surface: 'graphql',
    kind: operation?.operation ?? 'unknown',
    outcome: first ? String(first.extensions.code ?? 'INTERNAL_ERROR') : OK,
    seconds: secondsSince(startMs),
    projectId: (viewer && findProjectId(viewer)) ?? undefined,
  });
}
