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
      if (request.method === 'GET') {
        const { searchParams } = new URL(request.url);
        for (const name of ['variables', 'extensions']) {
          const text = searchParams.get(name);
          if (text && !isJson(text)) refuse(400, `The parameter ${name} must be JSON.`);
        }
      }
      if (request.method !== 'POST') return;
      // A form or plain text needs no preflight: any page could make its visitor's browser post one.
      const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
      if (type !== 'application/json') refuse(415, 'Send the operation as application/json.');
      else if (request.headers.get('content-encoding')) refuse(415, 'Send the body uncompressed.');
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

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
