/** Spans of statements, named by the verb and the table. */
import { SpanKind } from '@opentelemetry/api';
import { toOutcome } from '../../../kernel/meters.ts';
import { failSpan, findSampledContext, startSpan } from '../../../kernel/spans.ts';
import type { OnResult } from './results.ts';

/** Reports neither the text nor the values of a statement. */
export function withSpan(config: unknown, onResult: OnResult): OnResult {
  if (!findSampledContext()) return onResult;
  const summary = summarizeStatement(getText(config));
  const span = startSpan(summary, {
    kind: SpanKind.CLIENT,
    attributes: { 'db.system.name': 'postgresql', 'db.query.summary': summary },
  });
  return (error, result) => {
    if (error) failSpan(span, toOutcome(error));
    span.end();
    onResult(error, result);
  };
}

/** In a cluster, the text that is sent may differ from the text of the caller. */
function getText(config: unknown): string {
  if (typeof config === 'string') return config;
  const { text, callerQuery } = (config ?? {}) as {
    text?: unknown;
    callerQuery?: { text?: unknown } | null;
  };
  return String(callerQuery?.text ?? text ?? '');
}

/** Skips the comment that gives the reason of a statement for all projects. */
const VERB = /^(?:\/\*.*?\*\/)?[\s(]*(\w+)/s;
const CHANGE = /\b(?:insert\s+into|update|delete\s+from)\s+(?:"?\w+"?\s*\.\s*)?"(\w+)"/i;
const SOURCE = /\b(?:from|join)\s+(?:"?\w+"?\s*\.\s*)?"(\w+)"/i;

const SUMMARIES = new Map<string, string>();
/** A safety bound: the gateway has a few hundred texts. */
const SUMMARIES_MAX = 2_000;

/** Returns the verb and the table of a statement, without any of its values: `SELECT Operation`. */
function summarizeStatement(text: string): string {
  const cachedSummary = SUMMARIES.get(text);
  if (cachedSummary !== undefined) return cachedSummary;
  const verb = VERB.exec(text)?.[1]?.toUpperCase() ?? 'STATEMENT';
  const table = (CHANGE.exec(text) ?? SOURCE.exec(text))?.[1];
  const summary = table ? `${verb} ${table}` : verb;
  if (SUMMARIES.size < SUMMARIES_MAX) SUMMARIES.set(text, summary);
  return summary;
}
