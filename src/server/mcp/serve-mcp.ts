/** Serves requests of the Model Context Protocol by the official SDK, within the limits of every surface. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import { listPinnedWrites, type PinnedWrite } from '../../domain/agent/agent-contract.ts';
import { findGrant } from '../../domain/agent/agent-objects.ts';
import { namePinnedTools } from '../../domain/agent/pinned-tools.ts';
import { type Call, createCall } from '../../domain/call.ts';
import { toWeight } from '../../domain/viewer/share/process-shares.ts';
import { findProjectId, type Viewer } from '../../domain/viewer/viewer.ts';
import { measure, toOutcome } from '../../meters.ts';
import { admit, type Gateway, runInTime, runInTurn } from '../../rest/endpoint/run-request.ts';
import { createMcpServer } from './mcp-server.ts';
import type { Tool } from './tool.ts';
import { createPinnedTool } from './tools/pinned-write-tool.ts';
import { proposeWrite } from './tools/propose-write-tool.ts';
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
  const { cost, isChange } = findLimits(method, toolName);
  let viewer: Viewer | undefined;
  let toolError: unknown;
  const serve = async (call: Call): Promise<Response> => {
    const pinned = await findPinnedTools(call, { method, projectIdOrName });
    const handler = createMcpHandler(
      () =>
        createMcpServer({
          call,
          projectIdOrName,
          tools: [...TOOLS, ...pinned],
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
    const weight = toWeight(config, cost);
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

/** A tool that is not one of the usual ones is a pinned write, which costs as much as propose_write. */
function findLimits(method: unknown, toolName: unknown): Pick<Tool, 'cost' | 'isChange'> {
  if (method !== 'tools/call') return { cost: 1, isChange: false };
  return TOOLS.find(({ name }) => name === toolName) ?? proposeWrite;
}

/** Schemas of values are needed for the list only. A call is validated against the contract. */
async function findPinnedTools(
  call: Call,
  { method, projectIdOrName }: { method: unknown; projectIdOrName: string },
): Promise<Tool[]> {
  const pinned: PinnedWrite[] =
    method === 'tools/list'
      ? await listPinnedWrites(call, { projectIdOrName })
      : namePinnedTools(findGrant(call.viewer)?.pinnedTools ?? []).map((tool) => ({
          ...tool,
          valuesSchema: null,
        }));
  return pinned.map(createPinnedTool);
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
