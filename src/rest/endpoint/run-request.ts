/** Runs requests to endpoints: admits the caller, waits for a turn, validates the input, and limits the time. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Call, createCall, type Services } from '../../domain/access/call.ts';
import { PAGE_MAX } from '../../domain/access/paging/page.ts';
import { createRelations } from '../../domain/access/relations.ts';
import type { Admission } from '../../domain/access/viewer/admission.ts';
import { authorize } from '../../domain/access/viewer/needs.ts';
import { toWeight } from '../../domain/access/viewer/share/process-shares.ts';
import type { RequestSlot } from '../../domain/access/viewer/share/request-slot.ts';
import { findProjectId, type Viewer } from '../../domain/access/viewer/viewer.ts';
import { DomainError, missingCredentials, spellError } from '../../kernel/errors.ts';
import { measure, toOutcome } from '../../kernel/meters.ts';
import { inSpan } from '../../kernel/spans.ts';
import type { Spelling } from '../../kernel/text.ts';
import { createTimeoutError, getOperationMsMax, withDeadline } from '../../work/deadline.ts';
import { isLongValue } from '../../work/steps.ts';
import type { Endpoint, Parts, RestRequest } from './endpoint.ts';
import {
  readInput,
  refuseUnstorable,
  type Validate,
  type ValidationResult,
} from './request-input.ts';
import { createSpelling } from './rest-spelling.ts';
import { STORED_SPELLING } from './stored-spelling.ts';

export interface Gateway {
  services: Services;
  admission: Admission;
}

export interface RestGateway extends Gateway {
  takeSlot: TakeSlot;
}

/** Assigns a slot to a request. False if the client has disconnected. Throws if the process is full. */
export type TakeSlot = (request: FastifyRequest, reply: FastifyReply) => boolean;

/** Returns the response of the endpoint. The error handler turns errors into problem documents. */
export function runRequest(
  endpoint: Endpoint,
  gateway: Gateway,
  request: FastifyRequest,
): Promise<unknown> {
  const { params: path, query, body, headers, url, metadata } = request;
  const parts = { path, query, header: pickHeaders(endpoint, headers), body };
  const limits = {
    surface: 'rest',
    spelling: STORED_SPELLING,
    isChange: endpoint.method !== 'GET',
    cost: estimateCost(endpoint, parts),
    requests: 1 + (endpoint.providerCalls ?? 0),
  } as const;
  const validate: Validate = (schema, input) => {
    // Fastify's type of the result is a boolean, whatever the compiler returns.
    const result: unknown = request.validateInput(input, schema);
    return result as ValidationResult;
  };
  return serveCaller(gateway, request, limits, (call) => {
    const restRequest: RestRequest = {
      call,
      ...createRelations(call),
      url,
      setHeader: metadata.setHeader,
      knownVersions: headers['if-none-match'],
      warnings: [],
    };
    return runAdmitted(endpoint, restRequest, { parts, validate });
  });
}

/** Returns only the headers that the endpoint declares, because a request has many others. */
function pickHeaders({ partSchemas }: Endpoint, headers: FastifyRequest['headers']) {
  const names = Object.keys(partSchemas.header?.shape ?? {});
  return Object.fromEntries(names.map((name) => [name, headers[name]]));
}

interface ServedRequest {
  surface: 'rest' | 'mcp';
  spelling: Spelling;
  isChange: boolean;
  /** The maximum cost of the request, in objects of the gateway's own database. */
  cost: number;
  /** The number of requests that the request counts as, without its cost. Default: 1. */
  requests?: number;
  /** Returns the error that a successful response reports, as MCP does for failed tools. */
  findReportedError?: () => unknown;
  /** The URL of the protected resource, if it has one of its own. */
  resource?: string | undefined;
}

/**
 * Admits the caller, spends the cost of the request from the caller's rate, and runs the work within a time limit when
 * the caller gets a turn. Records the metrics of the request.
 */
export function serveCaller<T>(
  { services, admission }: Gateway,
  request: FastifyRequest,
  { surface, spelling, isChange, cost, requests = 1, findReportedError, resource }: ServedRequest,
  work: (call: Call) => Promise<T>,
): Promise<T> {
  const { config, meters } = services;
  const { metadata } = request;
  const { slot, gatewayUrl } = metadata;
  let admittedViewer: Viewer | undefined;
  const serve = async () => {
    const viewer = await admit(admission, request, resource);
    admittedViewer = viewer;
    const weight = toWeight(config, cost) + requests - 1;
    // Admission has counted one request already.
    if (weight > 1) await admission.spend(viewer, weight - 1, metadata);
    const call = createCall(services, viewer, { slot, gatewayUrl, spelling });
    return runInTurn(viewer, { slot, weight }, () => runInTime(call, isChange, () => work(call)));
  };
  return measure(meters, serve, ({ outcome, seconds }) => {
    const reportedError = findReportedError?.();
    meters.requestEnded({
      surface,
      kind: isChange ? 'mutation' : 'query',
      outcome: reportedError === undefined ? outcome : toOutcome(reportedError),
      seconds,
      projectId: (admittedViewer && findProjectId(admittedViewer)) ?? undefined,
    });
  });
}

/** Authorizes the caller, validates the input, and runs the endpoint. Throws errors that are spelled as in REST. */
async function runAdmitted(
  endpoint: Endpoint,
  request: RestRequest,
  { parts: receivedParts, validate }: { parts: Parts; validate: Validate },
): Promise<unknown> {
  let parts = receivedParts;
  let { locations } = endpoint;
  try {
    // Must precede validation: a caller without the scope learns nothing else.
    authorize(request.call.viewer, endpoint.needs);
    if (endpoint.rewrite) {
      refuseUnstorable(parts);
      if (isLongValue(parts.body)) await yieldToEventLoop();
      parts = await endpoint.rewrite(parts, request);
    }
    const { input, error, ...located } = await readInput(endpoint, parts, validate);
    locations = located.locations;
    if (error) throw error;
    return await inSpan('execute', {}, () => endpoint.run(request, input));
  } catch (error) {
    const { locateError } = request;
    const isInText = locateError && error instanceof DomainError;
    const locatedError = isInText ? await locateError(error) : error;
    throw spellError(locatedError, createSpelling(endpoint, { parts, locations }));
  }
}

/** Returns the maximum number of objects in the response. Validation refuses an invalid page size later. */
function estimateCost({ pageSizeDefault }: Endpoint, { query }: Parts): number {
  if (pageSizeDefault === undefined) return 1;
  const { pageSize = pageSizeDefault } = query as { pageSize?: unknown };
  const size = Number(pageSize);
  return size <= PAGE_MAX ? size : 1;
}

/** Runs the work when the caller gets a turn. Throws RATE_LIMITED or SERVICE_UNAVAILABLE if the caller gets none. */
export async function runInTurn<T>(
  viewer: Viewer,
  { slot, weight = 1 }: { slot?: RequestSlot | undefined; weight?: number },
  work: () => Promise<T>,
): Promise<T> {
  if (!slot) return work();
  slot.countByCaller(viewer);
  const turn = slot.startWork(weight);
  if (turn) await turn;
  try {
    return await work();
  } finally {
    slot.finishWork();
  }
}

/** Admits the caller. Must be called once for each request. */
export async function admit(
  admission: Admission,
  { headers, metadata }: Pick<FastifyRequest, 'headers' | 'metadata'>,
  resource?: string,
): Promise<Viewer> {
  const { 'x-api-key': apiKey, authorization } = headers;
  const credentials = { apiKey: apiKey as string | undefined, authorization, resource };
  const viewer = await admission.admit(credentials, metadata);
  if (!viewer) throw missingCredentials();
  return viewer;
}

/** Rejects when the deadline expires. The work continues until the database's own timeout ends its statements. */
function runInTime<T>(
  { config, database }: Services,
  isChange: boolean,
  run: () => Promise<T>,
): Promise<T> {
  const maximumMs = getOperationMsMax(config, { isChange });
  return withDeadline(run(), maximumMs, () => {
    throw database.outages.replaceTimeoutError(
      createTimeoutError('request', { isChange, maximumMs }),
    );
  });
}
