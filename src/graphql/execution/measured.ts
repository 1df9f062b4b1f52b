/** A pipeline whose operations are measured. A subscription is over when its stream is open. */
import { type DocumentNode, type GraphQLError, getOperationAST } from 'graphql';
import { projectIdOf } from '../../domain/viewer/viewer.ts';
import { type Meters, OK, type OperationKind, secondsSince } from '../../meters.ts';
import type { Opened, Pipeline, Results } from './pipeline.ts';
import type { Refused } from './prepare.ts';

/** The pipeline itself if METRICS_PORT is not set. */
export function measured(pipeline: Pipeline, meters: Meters): Pipeline {
  if (!meters.isOn) return pipeline;
  const open: Pipeline['open'] = async (requested, caller) => {
    const startedMs = performance.now();
    const opened = await pipeline.open(requested, caller);
    if ('errors' in opened) {
      refusedBy(meters, opened);
      const { kind = 'unknown' } = opened;
      tell(meters, { kind, errors: opened.errors, startedMs });
      return opened;
    }
    meters.costed(opened.cost);
    return { ...opened, run: () => runMeasured(meters, opened, startedMs) };
  };
  return {
    open,
    async run(requested, caller) {
      const opened = await open(requested, caller);
      return 'errors' in opened ? opened : opened.run();
    },
  };
}

async function runMeasured(meters: Meters, opened: Opened, startedMs: number): Promise<Results> {
  const { document, operationName, contextValue } = opened.args;
  const results = await opened.run();
  const errors = 'errors' in results ? results.errors : undefined;
  const { viewer } = contextValue;
  const projectId = (viewer && projectIdOf(viewer)) ?? undefined;
  tell(meters, { kind: kindOf(document, operationName), errors, startedMs, projectId });
  return results;
}

interface Told {
  kind: OperationKind;
  errors: readonly GraphQLError[] | undefined;
  startedMs: number;
  projectId?: string | undefined;
}

function tell(meters: Meters, { kind, errors, startedMs, projectId }: Told): void {
  const code = errors?.[0]?.extensions.code;
  const outcome = errors?.length ? String(code ?? 'INTERNAL_ERROR') : OK;
  const seconds = secondsSince(startedMs);
  meters.requested({ surface: 'graphql', kind, outcome, seconds, projectId });
}

function refusedBy(meters: Meters, { errors, cost }: Refused): void {
  if (cost !== undefined) meters.costed(cost);
  for (const { extensions } of errors) {
    const { limit } = (extensions.problem ?? {}) as { limit?: unknown };
    if (typeof limit === 'string') meters.refused(limit.replaceAll(' ', '_'));
  }
}

function kindOf(document: DocumentNode, name: string | null | undefined): OperationKind {
  return getOperationAST(document, name)?.operation ?? 'unknown';
}
