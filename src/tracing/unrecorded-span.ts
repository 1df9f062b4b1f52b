import type { SpanContext } from '@opentelemetry/api';
import { NO_SPAN, type Span } from '../spans.ts';
import { traceparentOf } from './trace-context.ts';

/** In the trace of a caller that is not sampled: nothing is told of it, but those that are called hear of it. */
export class UnrecordedSpan implements Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceparent: string;
  readonly isRecorded = false;
  #isOver = false;

  constructor(context: SpanContext) {
    this.traceId = context.traceId;
    this.spanId = context.spanId;
    this.traceparent = traceparentOf(context);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  begin(): Span {
    return NO_SPAN;
  }

  set(): void {}

  fail(): void {}

  end(): void {
    this.#isOver = true;
  }
}
