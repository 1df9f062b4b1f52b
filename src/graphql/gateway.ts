/** GraphQL over HTTP: Yoga for what is around an operation, this gateway's pipeline for the operation itself. */
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import type { Config } from '../config.ts';
import type { OpenStreams } from '../domain/viewer/open-streams.ts';
import type { Log } from '../log.ts';
import { createErrorMapper } from './errors.ts';
import { type GraphiqlTab, graphiqlOptions } from './graphiql.ts';
import { COST_HEADER, type Pipeline } from './pipeline.ts';
import { schema } from './schema.ts';
import { useEventStream } from './use-event-stream.ts';
import { useHttpRules } from './use-http-rules.ts';
import { usePipeline } from './use-pipeline.ts';

/** What the server knows of a request beside the request itself. */
export interface RequestFacts {
  requestId: string;
  /** The client's address. */
  address: string;
  /** A header of the answer; later ones of that name replace it. */
  setHeader: (name: string, value: string) => void;
  /** Cuts the connection of a client that has stopped reading. */
  disconnect: () => void;
  /** Told when the answer is a stream: from then on the request is no load of the moment. */
  staysOpen: () => void;
}

export type Gateway = YogaServerInstance<RequestFacts, object>;

export interface GatewayServices {
  config: Config;
  log: Log;
  pipeline: Pipeline;
  streams: OpenStreams;
  /** GraphiQL's, as they are when its page is asked for. */
  tabs: () => GraphiqlTab[];
}

export function createGateway({ config, log, pipeline, streams, tabs }: GatewayServices): Gateway {
  return createYoga<RequestFacts>({
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
            exposedHeaders: ['ratelimit', 'ratelimit-policy', 'retry-after', 'x-request-id'],
          }
        : false,
    graphiql: () => graphiqlOptions(tabs()),
    // Its page is one text of many megabytes: it is loaded when somebody opens it.
    renderGraphiQL: async (options) => {
      const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
      return renderGraphiQL(options);
    },
    maskedErrors: { maskError: createErrorMapper(log) },
    plugins: [useHttpRules(), usePipeline(pipeline), useEventStream(streams)],
  });
}
