/** MCP clients for tests: the SDK's client, connected to the app in-process, and raw requests. */
import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import type { TestApp } from '../app.ts';

export const REVISION = '2026-07-28';

export interface McpCaller {
  projectId: string;
  headers: Record<string, string>;
}

/** The structured content of a result, and the text for the model. */
export interface ToolResult {
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of the response
  data: any;
  text: string;
  isError: boolean;
  meta: Record<string, unknown>;
}

export interface McpClient {
  client: Client;
  call(name: string, args?: Record<string, unknown>): Promise<ToolResult>;
}

/** Connects a client to the MCP server of the caller's project. `mode` is how it negotiates the revision. */
export async function connectMcp(
  app: TestApp,
  { projectId, headers }: McpCaller,
  mode: 'legacy' | { pin: string } = { pin: REVISION },
): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(
    new URL(`http://gateway.test/mcp/projects/${projectId}`),
    {
      requestInit: { headers },
      fetch: (url, init) => app.fetch(new URL(url).pathname, init),
    },
  );
  await client.connect(transport);
  return {
    client,
    call: async (name, args = {}) => toToolResult(await client.callTool({ name, arguments: args })),
  };
}

function toToolResult({ structuredContent, content, isError, _meta }: CallToolResult): ToolResult {
  const [firstPart] = content;
  return {
    data: structuredContent,
    text: firstPart?.type === 'text' ? firstPart.text : '',
    isError: isError === true,
    meta: _meta ?? {},
  };
}

/** Posts a body to the MCP server of the caller's project, without a client. */
export function postMcp(
  app: TestApp,
  { projectId, headers }: McpCaller,
  body: string,
): Promise<Response> {
  return app.fetch(`/mcp/projects/${projectId}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
  });
}

/** Sends a request of the newest revision without a client. */
export async function requestMcp(
  app: TestApp,
  caller: McpCaller,
  method: string,
  params: object = {},
) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } };
  const { name } = params as { name?: string };
  const headers = {
    ...caller.headers,
    'mcp-protocol-version': REVISION,
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': name }),
  };
  const response = await postMcp(app, { ...caller, headers }, JSON.stringify(message));
  return { status: response.status, ...(await response.json()) };
}
