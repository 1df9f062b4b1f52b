/** GraphQL over HTTP: Yoga with this gateway's rules. */
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import type { Services } from '../domain/call.ts';
import type { Admission } from '../domain/viewer/admission.ts';
import { type Context, createContext } from './context.ts';
import { createErrorMapper } from './errors.ts';
import { type GraphiqlTab, graphiqlOptions } from './graphiql.ts';
import { schema } from './schema.ts';
import { useEventStream } from './use-event-stream.ts';
import { useHttpRules } from './use-http-rules.ts';
import { useOperationTime } from './use-operation-time.ts';
import { COST_HEADER, useQueryLimits } from './use-query-limits.ts';
import { useSubscriptions } from './use-subscriptions.ts';
import { useValidationProblems } from './use-validation-problems.ts';

/** What the server knows of a request beside the request itself. */
export interface RequestFacts {
  requestId: string;
  /** The client's address. */
  address: string;
  /** Cuts the connection of a client that has stopped reading. */
  disconnect: () => void;
  /** Told when the answer is a stream: from then on the request is no load of the moment. */
  staysOpen: () => void;
}

export type Gateway = YogaServerInstance<RequestFacts, Context>;

export function createGateway(
  services: Services,
  admission: Admission,
  tabs: () => GraphiqlTab[],
): Gateway {
  const { config } = services;
  const mapError = createErrorMapper(services.log);
  return createYoga<RequestFacts, Context>({
    schema,
    graphqlEndpoint: '/graphql',
    logging: false,
    landingPage: false,
    batching: false,
    multipart: false,
    maxRequestBodySize: config.LIMIT_BODY_BYTES,
    cors:
      config.CORS_ORIGINS.length > 0
        ? {
            origin: config.CORS_ORIGINS,
            credentials: false,
            methods: ['GET', 'POST'],
            allowedHeaders: [
              'content-type',
              'x-api-key',
              'authorization',
              'x-request-id',
              'last-event-id',
              COST_HEADER,
            ],
          }
        : false,
    graphiql: () => graphiqlOptions(tabs()),
    renderGraphiQL,
    maskedErrors: { maskError: mapError },
    plugins: [
      useHttpRules(),
      useQueryLimits(config),
      useValidationProblems(mapError),
      useOperationTime(config),
      useSubscriptions(services, admission.streams),
      useEventStream(admission.streams),
    ],
    context: async ({ request, requestId, address }) => {
      const credentials = {
        apiKey: request.headers.get('x-api-key'),
        authorization: request.headers.get('authorization'),
      };
      const viewer = await admission.admit(credentials, address);
      const lastEventId = request.headers.get('last-event-id');
      return createContext(services, { viewer, requestId, credentials, lastEventId });
    },
  });
}
