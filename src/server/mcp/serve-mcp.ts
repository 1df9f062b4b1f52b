/** Serves requests of the Model Context Protocol by the official SDK, within the limits of every surface. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import { listPinnedWrites } from '../../domain/agent/agent-contract.ts';
import { type Call, createCall } from '../../domain/call.ts';
import { toWeight } from '../../domain/viewer/share/process-shares.ts';
import { findProjectId, type Viewer } from '../../domain/viewer/viewer.ts';
import { measure, toOutcome } from '../../meters.ts';
import { admit, type Gateway, runInTime, runInTurn } from '../../rest/endpoint/run-request.ts';
import { createMcpServer } from './mcp-server.ts';
import { TOOLS } from './tools/tools.ts';

/** A request for the MCP server of a project. */
interface McpRequest {
  projectIdOrName: string;
  /** The message as the client sent it. Undefined if it is not JSON. */
  message: unknown;
}

/** Returns the response of the SDK. Throws the errors of admission, and NOT_FOUND for a project that the caller may not see. */
export async function serveMcp(
  { services, admission }: Gateway,
  request: FastifyRequest,
  { projectIdOrName, message }: McpRequest,
): Promise<Response> {
  const { config, meters } = services;
  const { metadata, headers } = request;
  const { 'x-api-key': apiKey, authorization } = headers;
  const credentials = { apiKey: apiKey as string | undefined, authorization };
  const { method, toolName } = readRequest(message);
  const tool = TOOLS.find(({ name }) => name === toolName);
  const isChange = tool?.isChange ?? false;
  let viewer: Viewer | undefined;
  let toolError: unknown;
  const serve = async (call: Call): Promise<Response> => {
    if (method === 'tools/list') await listPinnedWrites(call, { projectIdOrName });
    const handler = createMcpHandler(
      () =>
        createMcpServer({
          call,
          projectIdOrName,
          tools: TOOLS,
          onToolError(error) {
            toolError = error;
          },
        }),
      // Nothing that a client could subscribe to changes during its call.
      { maxSubscriptions: 0 },
    );
    const response = await handler.fetch(toFetchRequest(request), { parsedBody: message });
    // Until the body has arrived, the tool may still be running.
    return new Response(response.body && (await response.arrayBuffer()), response);
  };
  const work = async () => {
    const sender = { credentials, sender: metadata, setHeader: metadata.setHeader };
    const admitted = await admit(admission, sender);
    viewer = admitted;
    const weight = toWeight(config, tool?.cost ?? 1);
    // Admission has counted one request already.
    if (weight > 1) await admission.spend(admitted, weight - 1, metadata);
    return runInTurn(admitted, { ...metadata, weight }, (slot) => {
      const call = createCall(services, admitted, { slot, gatewayUrl: metadata.gatewayUrl });
      return runInTime(services, { isChange }, () => serve(call));
    });
  };
  return measure(meters, work, ({ outcome, seconds }) => {
    const kind = isChange ? 'mutation' : 'query';
    const projectId = (viewer && findProjectId(viewer)) ?? undefined;
    const ended = toolError === undefined ? outcome : toOutcome(toolError);
    meters.requestEnded({ surface: 'mcp', kind, outcome: ended, seconds, projectId });
  });
}

/** The method and the tool of a message, for its limits. The SDK validates the message later. */
function readRequest(message: unknown): { method: unknown; toolName: unknown } {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: unknown };
  const { name: toolName } = (params ?? {}) as { name?: unknown };
  return { method, toolName };
}

function toFetchRequest({ raw: { headers, url = '' }, body }: FastifyRequest): Request {
  return new Request(`http://${headers.host ?? 'localhost'}${url}`, {
    method: 'POST',
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    body: body as string,
  });
}
