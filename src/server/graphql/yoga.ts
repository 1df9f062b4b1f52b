/** The GraphQL pipeline. Every operation passes these plugins, over HTTP, event streams and WebSockets. */
import { createYoga, type YogaServerInstance, type YogaServerOptions } from 'graphql-yoga';
import type { Config } from '../../config.ts';
import type { Services } from '../../domain/call.ts';
import type { Admission } from '../../domain/viewer/admission.ts';
import { createErrorMapper } from '../../graphql/execution/graphql-errors.ts';
import type {
  Caller,
  OperationContext,
  OperationPlugin,
} from '../../graphql/execution/operation-context.ts';
import {
  createTrustedDocuments,
  type OwnDocuments,
} from '../../graphql/execution/trusted-documents.ts';
import {
  useAdmission,
  useLateValidation,
  useResolverContext,
  useTrustedDocuments,
} from '../../graphql/plugins/use-admission.ts';
import { useCompiledQueries } from '../../graphql/plugins/use-compiled-queries.ts';
import { useCost } from '../../graphql/plugins/use-cost.ts';
import { useDeadline } from '../../graphql/plugins/use-deadline.ts';
import { useDocuments } from '../../graphql/plugins/use-documents.ts';
import { useCostOfRate, useTurns } from '../../graphql/plugins/use-fair-shares.ts';
import { useMetrics } from '../../graphql/plugins/use-metrics.ts';
import { useProblems } from '../../graphql/plugins/use-problems.ts';
import { useSchema } from '../../graphql/plugins/use-schema.ts';
import { useSharedSubscriptions } from '../../graphql/plugins/use-shared-subscriptions.ts';
import { useTracing } from '../../graphql/plugins/use-tracing.ts';
import { schema } from '../../graphql/schema/schema.ts';
import { isFromThisMachine } from '../console/demo-sign-in.ts';
import type { RequestFacts } from '../http/request-facts.ts';
import { type GraphiqlTab, graphiqlOptions, graphiqlPage } from './graphiql.ts';
import { useEventStream } from './use-event-stream.ts';
import { useHttpRules } from './use-http-rules.ts';

/** The server context of a request. The adapter and WebSockets provide only a Caller. */
type ServerContext = RequestFacts & Caller;

export type Yoga = YogaServerInstance<ServerContext, OperationContext>;

interface YogaParts {
  services: Services;
  admission: Admission;
  ownDocuments?: OwnDocuments;
  /** The tabs of GraphiQL, of /graphql or of a project's typed API, read at each request for its page. */
  tabs?: (projectIdOrName: string | undefined) => GraphiqlTab[];
  /** Plugins that run after the gateway's own. */
  plugins?: OperationPlugin[];
}

export function openYoga({
  services,
  admission,
  ownDocuments,
  tabs = () => [],
  plugins = [],
}: YogaParts): Yoga {
  const { config, log, meters, tracer } = services;
  const { streams } = admission;
  const trusted = createTrustedDocuments(config, ownDocuments);
  const mapError = createErrorMapper(log);
  return createYoga<ServerContext, OperationContext>({
    schema,
    plugins: [
      useHttpRules(mapError),
      useEventStream(streams),
      useDocuments(config, trusted),
      useAdmission(admission),
      useTrustedDocuments(trusted),
      useSchema(schema, services),
      useLateValidation(),
      useCost(config),
      useCostOfRate(services, admission),
      useResolverContext(services),
      // Each of the following plugins wraps the execution of the previous ones.
      useCompiledQueries(),
      useSharedSubscriptions({ services, streams, mapError }),
      useDeadline(services),
      useTurns(mapError),
      useProblems(mapError),
      useMetrics(meters),
      useTracing(tracer),
      ...plugins,
    ],
    graphiql: (request, facts) => {
      facts.setHeader('content-security-policy', "frame-ancestors 'none'");
      const mayHaveKeys = isOpenedLocally(request, facts, config.PUBLIC_URL);
      const { projectIdOrName } = facts;
      const ownTabs = tabs(projectIdOrName);
      return graphiqlOptions(mayHaveKeys ? ownTabs : withoutKeys(ownTabs), projectIdOrName);
    },
    renderGraphiQL: graphiqlPage,
    ...httpOptions(config),
  });
}

function httpOptions({
  LIMIT_BODY_BYTES,
}: Config): Partial<YogaServerOptions<ServerContext, OperationContext>> {
  return {
    graphqlEndpoint: '/graphql',
    extraParamNames: ['documentId'],
    maxRequestBodySize: LIMIT_BODY_BYTES,
    batching: false,
    multipart: false,
    landingPage: false,
    logging: false,
    // server/http/front.ts handles CORS for all surfaces.
    cors: false,
    // `useDocuments` caches documents, and `useProblems` masks errors.
    parserAndValidationCache: false,
    maskedErrors: false,
  };
}

/**
 * True if a person on this machine opened the page. Scripts of other pages that fetch it send an Origin header; opening
 * it in a browser sends none.
 */
function isOpenedLocally(
  { headers }: Request,
  { httpVersion, address }: RequestFacts,
  publicUrl: string | undefined,
): boolean {
  const local = { headers: Object.fromEntries(headers), httpVersion, address, publicUrl };
  return !headers.has('origin') && isFromThisMachine(local);
}

function withoutKeys(tabs: GraphiqlTab[]): GraphiqlTab[] {
  return tabs.map((tab) => ({ ...tab, headers: {} }));
}
