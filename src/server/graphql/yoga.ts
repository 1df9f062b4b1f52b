/** The GraphQL pipeline. Operations over HTTP, event streams and WebSockets all pass the same plugins. */
import { createYoga, type YogaServerInstance, type YogaServerOptions } from 'graphql-yoga';
import type { Services } from '../../domain/access/call.ts';
import type { Admission } from '../../domain/access/viewer/admission.ts';
import { createErrorMapper } from '../../graphql/execution/graphql-errors.ts';
import type {
  OperationContext,
  OperationPlugin,
  OperationRequest,
} from '../../graphql/execution/operation-context.ts';
import {
  createTrustedDocuments,
  type FindPageDocument,
} from '../../graphql/execution/trusted-documents.ts';
import { useAdmission, useResolverContext } from '../../graphql/plugins/context-plugins.ts';
import { useArguments } from '../../graphql/plugins/use-arguments.ts';
import { useCompiledQueries } from '../../graphql/plugins/use-compiled-queries.ts';
import { useCost } from '../../graphql/plugins/use-cost.ts';
import { useDeadline } from '../../graphql/plugins/use-deadline.ts';
import { useDocuments } from '../../graphql/plugins/use-documents.ts';
import { useFairShares } from '../../graphql/plugins/use-fair-shares.ts';
import { useMetrics } from '../../graphql/plugins/use-metrics.ts';
import { useProblems } from '../../graphql/plugins/use-problems.ts';
import { useSchema } from '../../graphql/plugins/use-schema.ts';
import { useSerialization } from '../../graphql/plugins/use-serialization.ts';
import { useSharedSubscriptions } from '../../graphql/plugins/use-shared-subscriptions.ts';
import { useTracing } from '../../graphql/plugins/use-tracing.ts';
import { schema } from '../../graphql/schema/schema.ts';
import type { Config } from '../../settings/config.ts';
import type { RequestMetadata } from '../http/request-metadata.ts';
import { useResultStream } from './result-stream.ts';
import { useHttpRules } from './use-http-rules.ts';

/** The server context of a request. The adapter and WebSockets provide only an OperationRequest. */
type ServerContext = RequestMetadata & OperationRequest;

export type Yoga = YogaServerInstance<ServerContext, OperationContext>;

interface YogaParts {
  services: Services;
  admission: Admission;
  findPageDocument?: FindPageDocument;
  /** Plugins that run after the gateway's own. */
  plugins?: OperationPlugin[];
}

export function openYoga({ services, admission, findPageDocument, plugins = [] }: YogaParts): Yoga {
  const { config, log, meters, tracer } = services;
  const { streams } = admission;
  const trustedDocuments = createTrustedDocuments(config, findPageDocument);
  const mapError = createErrorMapper(log);
  return createYoga<ServerContext, OperationContext>({
    schema,
    plugins: [
      useHttpRules(mapError),
      useResultStream(streams),
      useAdmission(admission),
      useDocuments(config, trustedDocuments),
      useSchema(schema, services),
      useCost(config),
      // From here on, a plugin that wraps the execution wraps that of the previous plugins.
      useCompiledQueries(),
      useSharedSubscriptions({ services, streams, mapError }),
      useArguments(mapError),
      useDeadline(services),
      useFairShares({ services, admission, mapError }),
      useResolverContext(services),
      useProblems(mapError),
      useSerialization(),
      useMetrics(meters),
      useTracing(tracer),
      ...plugins,
    ],
    ...createHttpOptions(config),
  });
}

function createHttpOptions({
  LIMIT_BODY_BYTES,
}: Config): Partial<YogaServerOptions<ServerContext, OperationContext>> {
  return {
    graphqlEndpoint: '/graphql',
    extraParamNames: ['documentId'],
    maxRequestBodySize: LIMIT_BODY_BYTES,
    batching: false,
    multipart: false,
    // graphql-routes.ts serves GraphiQL.
    graphiql: false,
    landingPage: false,
    logging: false,
    // server/http/http-front-end.ts handles CORS for all surfaces.
    cors: false,
    // `useDocuments` caches documents, and `useProblems` masks errors.
    parserAndValidationCache: false,
    maskedErrors: false,
  };
}
