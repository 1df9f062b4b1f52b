/** What may come in through Yoga's own handler (JSON only, uncompressed), and what goes out. */
import type { ExecutionResult } from 'graphql';
import { createGraphQLError, type Plugin } from 'graphql-yoga';
import { type ErrorCode, problemOf } from '../../errors.ts';
import { isForStream } from './event-stream.ts';
import { httpAnswer } from './http-answer.ts';

export function useHttpRules(): Plugin {
  return {
    onRequestParse({ request, endResponse, fetchAPI }) {
      const refuse = (status: number, detail: string) => {
        const code: ErrorCode = 'BAD_USER_INPUT';
        const problem = { ...problemOf(code, detail), status };
        endResponse(
          fetchAPI.Response.json(
            { errors: [{ message: detail, extensions: { code, problem } }] },
            { status },
          ),
        );
      };
      const wrong = whatIsWrong(request);
      if (wrong) refuse(wrong.status, wrong.detail);
    },
    onParams({ params }) {
      // Yoga ignores false and 0.
      const { operationName } = params as { operationName?: unknown };
      if (operationName != null && typeof operationName !== 'string') {
        throw createGraphQLError('operationName must be a string.', {
          extensions: { http: { status: 400 } },
        });
      }
    },
    onResultProcess({ request, result, resultProcessor, setResultProcessor }) {
      const accept = request.headers.get('accept');
      if (!resultProcessor || Array.isArray(result) || isForStream(accept, result)) return;
      const processor: typeof resultProcessor = (answered, { Response }) => {
        const { body, ...init } = httpAnswer(answered as ExecutionResult, accept);
        return new Response(body, init);
      };
      setResultProcessor(processor, 'application/json');
    },
  };
}

function whatIsWrong({ method, url, headers }: Request): Refusal | null {
  if (method === 'GET') {
    const { searchParams } = new URL(url);
    const name = ['variables', 'extensions'].findLast((one) => !isJson(searchParams.get(one)));
    return name ? { status: 400, detail: `The parameter ${name} must be JSON.` } : null;
  }
  if (method !== 'POST') return null;
  // A form or plain text needs no preflight: any page could make its visitor's browser post one.
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    return { status: 415, detail: 'Send the operation as application/json.' };
  }
  if (!headers.get('content-encoding')) return null;
  return { status: 415, detail: 'Send the body uncompressed.' };
}

interface Refusal {
  status: number;
  detail: string;
}

/** True also for a parameter that is left out. */
function isJson(text: string | null): boolean {
  if (!text) return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
