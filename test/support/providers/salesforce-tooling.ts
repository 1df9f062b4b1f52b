/**
 * The part of the Tooling API of the Salesforce test server that concerns event channels and their members.
 */
import { z } from 'zod';
import type { ServedRequest, ServedResponse } from './provider-server.ts';
import { SalesforceRefusal } from './salesforce-store.ts';

interface Channel {
  id: string;
  /** The name without the suffix `__chn`. */
  name: string;
}
interface Member {
  id: string;
  name: string;
  channelId: string;
  /** The type of the change event, such as `ContactChangeEvent`. */
  entity: string;
}

const CHANNEL_TYPE = 'PlatformEventChannel';

const newChannel = z.strictObject({
  FullName: z.string().regex(/^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*__chn$/),
  Metadata: z.strictObject({ channelType: z.literal('data'), label: z.string() }),
});
const newMember = z.strictObject({
  FullName: z.string().regex(/^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*$/),
  Metadata: z.strictObject({ eventChannel: z.string(), selectedEntity: z.string() }),
});

export class SalesforceChannels {
  channels: Channel[] = [];
  members: Member[] = [];
  /** True if Salesforce publishes change events of this type. */
  readonly #isKnown: (entity: string) => boolean;
  #lastNumber = 0;

  constructor(isKnown: (entity: string) => boolean) {
    this.#isKnown = isKnown;
  }

  /** Returns the topics of the channels that have the entity as a member. */
  listTopics(entity: string): string[] {
    const channelIds = this.members.flatMap((member) =>
      member.entity === entity ? member.channelId : [],
    );
    return this.channels.filter(({ id }) => channelIds.includes(id)).map(toTopicName);
  }

  get topics(): string[] {
    return this.channels.map(toTopicName);
  }

  query(soql: string): ServedResponse {
    const [, kind = '', field = '', value = ''] =
      /^SELECT Id FROM (\w+) WHERE (\w+) = '(\w+)'$/.exec(soql) ?? [];
    const rows = this.#rows(kind).filter((row) =>
      field === 'DeveloperName'
        ? row.name === value
        : field === 'EventChannel' && 'channelId' in row && row.channelId === value,
    );
    const records = rows.map(({ id }) => ({ Id: id }));
    return { status: 200, body: { totalSize: records.length, done: true, records } };
  }

  create(kind: string, { body }: ServedRequest): ServedResponse {
    const id = kind === CHANNEL_TYPE ? this.#createChannel(body) : this.#createMember(body);
    return { status: 201, body: { id, success: true, errors: [] } };
  }

  get(kind: string, id: string): ServedResponse {
    const row = this.#rows(kind).find((candidate) => candidate.id === id);
    if (!row) throw createNotFound();
    return { status: 200, body: { Id: row.id, DeveloperName: row.name } };
  }

  delete(kind: string, id: string): ServedResponse {
    this.get(kind, id);
    if (kind === CHANNEL_TYPE) {
      if (this.members.some(({ channelId }) => channelId === id)) {
        throw new SalesforceRefusal(400, 'DEPENDENCY_EXISTS', 'The channel has members.');
      }
      this.channels = this.channels.filter((channel) => channel.id !== id);
    } else this.members = this.members.filter((member) => member.id !== id);
    return { status: 204 };
  }

  #rows(kind: string): (Channel | Member)[] {
    if (kind === CHANNEL_TYPE) return this.channels;
    if (kind === 'PlatformEventChannelMember') return this.members;
    throw createNotFound();
  }

  #createChannel(body: unknown): string {
    const name = newChannel.parse(body).FullName.replace('__chn', '');
    this.#refuseDuplicate(this.channels, name);
    const id = this.#newId('0YL');
    this.channels.push({ id, name });
    return id;
  }

  #createMember(body: unknown): string {
    const { FullName: name, Metadata } = newMember.parse(body);
    const channel = this.channels.find(
      (candidate) => `${candidate.name}__chn` === Metadata.eventChannel,
    );
    if (!channel) throw new SalesforceRefusal(400, 'INVALID_FIELD', 'There is no such channel.');
    if (!this.#isKnown(Metadata.selectedEntity)) {
      const detail = `The selected entity ${Metadata.selectedEntity} is not supported.`;
      throw new SalesforceRefusal(400, 'FIELD_INTEGRITY_EXCEPTION', detail);
    }
    this.#refuseDuplicate(this.members, name);
    const id = this.#newId('0v8');
    this.members.push({ id, name, channelId: channel.id, entity: Metadata.selectedEntity });
    return id;
  }

  #refuseDuplicate(rows: { name: string }[], name: string): void {
    if (!rows.some((row) => row.name === name)) return;
    throw new SalesforceRefusal(400, 'DUPLICATE_DEVELOPER_NAME', 'The name is in use.');
  }

  #newId(prefix: string): string {
    this.#lastNumber += 1;
    return `${prefix}${String(this.#lastNumber).padStart(12, '0')}AAA`;
  }
}

function toTopicName({ name }: Channel): string {
  return `/data/${name}__chn`;
}

function createNotFound(): SalesforceRefusal {
  return new SalesforceRefusal(404, 'NOT_FOUND', 'The requested resource does not exist');
}
