/** GraphQL over HTTP by Yoga: what is around an operation. The operation itself goes to the one pipeline. */
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import type { Config } from '../../config.ts';
import type { OpenStreams } from '../../domain/viewer/open-streams.ts';
import { createErrorMapper } from '../../graphql/execution/graphql-errors.ts';
import type { Pipeline } from '../../graphql/execution/pipeline.ts';
import { schema } from '../../graphql/schema/schema.ts';
import type { Log } from '../../log.ts';
import { isFromThisMachine } from '../console/demo-sign-in.ts';
import type { RequestFacts } from '../http/request-facts.ts';
import { type GraphiqlTab, graphiqlOptions, graphiqlPage } from './graphiql.ts';
import { useEventStream } from './use-event-stream.ts';
import { useHttpRules } from './use-http-rules.ts';
import { usePipeline } from './use-pipeline.ts';

export type Yoga = YogaServerInstance<RequestFacts, object>;

export interface YogaParts {
  config: Config;
  log: Log;
  pipeline: Pipeline;
  streams: OpenStreams;
  /** GraphiQL's tabs, read for each request of its page. */
  tabs: () => GraphiqlTab[];
}

export function openYoga({ config, log, pipeline, streams, tabs }: YogaParts): Yoga {
  return createYoga<RequestFacts>({
    schema,
    graphqlEndpoint: '/graphql',
    logging: false,
    landingPage: false,
    batching: false,
    multipart: false,
    extraParamNames: ['documentId'],
    maxRequestBodySize: config.LIMIT_BODY_BYTES,
    // server/http/front.ts does it for all surfaces.
    cors: false,
    graphiql: (request, facts) => {
      facts.setHeader('content-security-policy', "frame-ancestors 'none'");
      return graphiqlOptions(mayHaveKeys(request, facts) ? tabs() : withoutKeys(tabs()));
    },
    renderGraphiQL: graphiqlPage,
    maskedErrors: { maskError: createErrorMapper(log) },
    plugins: [useHttpRules(), usePipeline(pipeline), useEventStream(streams)],
  });
}

/** The script of a page that reads this one tells its origin; a person who opens this one comes without. */
function mayHaveKeys({ headers }: Request, { address }: RequestFacts): boolean {
  return (
    !headers.has('origin') && isFromThisMachine({ headers: Object.fromEntries(headers) }, address)
  );
}

function withoutKeys(tabs: GraphiqlTab[]): GraphiqlTab[] {
  return tabs.map((tab) => ({ ...tab, headers: {} }));
}
