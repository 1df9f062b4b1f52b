/** Spans of statements, named by the verb and the table. */
import { SpanKind } from '@opentelemetry/api';
import { outcomeOf } from '../../meters.ts';
import { failSpan, sampledContext, startSpan } from '../../spans.ts';
import type { OnResult } from './session.ts';

/** A span has neither the text of its statement nor the values. */
export function spanned(config: unknown, take: OnResult): OnResult {
  if (!sampledContext()) return take;
  const summary = statementSummary(textOf(config));
  const span = startSpan(summary, {
    kind: SpanKind.CLIENT,
    attributes: { 'db.system.name': 'postgresql', 'db.query.summary': summary },
  });
  return (error, result) => {
    if (error) failSpan(span, outcomeOf(error));
    span.end();
    take(error, result);
  };
}

/** In a cluster a statement may be sent in another one, and then names what was asked. */
function textOf(config: unknown): string {
  if (typeof config === 'string') return config;
  const { text, asked } = (config ?? {}) as { text?: unknown; asked?: { text?: unknown } | null };
  return String(asked?.text ?? text ?? '');
}

/** A statement may begin with a comment that says why it asks all projects. */
const VERB = /^(?:\/\*.*?\*\/)?[\s(]*(\w+)/s;
const CHANGE = /\b(?:insert\s+into|update|delete\s+from)\s+(?:"?\w+"?\s*\.\s*)?"(\w+)"/i;
const SOURCE = /\b(?:from|join)\s+(?:"?\w+"?\s*\.\s*)?"(\w+)"/i;

const SUMMARIES = new Map<string, string>();
/** The gateway has a few hundred texts; this only bounds what a mistake could add. */
const SUMMARIES_MAX = 2_000;

/** What a statement does, in words that hold nothing of its values: `SELECT Operation`. */
function statementSummary(text: string): string {
  let summary = SUMMARIES.get(text);
  if (summary === undefined) {
    const verb = VERB.exec(text)?.[1]?.toUpperCase() ?? 'STATEMENT';
    const table = (CHANGE.exec(text) ?? SOURCE.exec(text))?.[1];
    summary = table ? `${verb} ${table}` : verb;
    if (SUMMARIES.size < SUMMARIES_MAX) SUMMARIES.set(text, summary);
  }
  return summary;
}
