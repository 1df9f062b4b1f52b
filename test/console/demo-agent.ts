/** An agent of the demo's group `acme`, and records of the sandbox, which it proposes to change. */
import type { ConsoleStage } from './stage.ts';

export interface DemoAgent {
  url: string;
  token: string;
}

const CREATE_AGENT_SESSION = `mutation CreateAgentSession($input: CreateAgentSessionInput!) {
  createAgentSession(input: $input) { token }
}`;

export async function createDemoAgent(
  { url, api }: ConsoleStage,
  name: string,
): Promise<DemoAgent> {
  const input = {
    projectIdOrName: 'demo',
    groupRef: 'acme',
    consumerRef: 'ada',
    name,
    verbs: ['READ', 'CREATE', 'UPDATE', 'DELETE'],
  };
  const { createAgentSession } = await api(CREATE_AGENT_SESSION, { input });
  return { url, token: createAgentSession.token };
}

/** Proposes a write of `people` over REST, because agents may only run trusted documents here. Returns the proposal's id. */
export async function propose({ url, token }: DemoAgent, input: object): Promise<string> {
  const response = await fetch(`${url}/v1/projects/demo/proposals`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ objectName: 'people', type: 'update', ...input }),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body.id;
}

/** Returns a contact of the sandbox. With `changed`, changes the contact first. */
export async function requestContact(
  { server }: Pick<ConsoleStage, 'server'>,
  id: string,
  changed?: object,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${server.demo.sandboxUrl}/objects/contacts/records/${id}`, {
    method: changed ? 'PATCH' : 'GET',
    ...(changed && { body: JSON.stringify({ record: changed }) }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()).record;
}
