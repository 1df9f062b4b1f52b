/** The Tooling API of the Salesforce test server, as far as it is about channels of events and their members. */
import { z } from 'zod';
import type { ServedRequest, ServedResponse } from './provider-server.ts';
import { SalesforceRefusal } from './salesforce-store.ts';

interface Channel {
  id: string;
  /** Without `__chn`. */
  name: string;
}
interface Member {
  id: string;
  name: string;
  channelId: string;
  /** As Salesforce calls its events, `ContactChangeEvent`. */
  entity: string;
}

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
  /** Whether Salesforce tells of an object. */
  readonly #isKnown: (entity: string) => boolean;
  #lastNumber = 0;

  constructor(isKnown: (entity: string) => boolean) {
    this.#isKnown = isKnown;
  }

  /** The topics of the channels that tell of the entity. */
  topicsOf(entity: string): string[] {
    const channelIds = this.members.flatMap((one) => (one.entity === entity ? one.channelId : []));
    return this.channels.filter(({ id }) => channelIds.includes(id)).map(topicOf);
  }

  get topics(): string[] {
    return this.channels.map(topicOf);
  }

  query(soql: string): ServedResponse {
    const [, kind = '', field = '', value = ''] =
      /^SELECT Id FROM (\w+) WHERE (\w+) = '(\w+)'$/.exec(soql) ?? [];
    const found = this.#rows(kind).filter((row) =>
      field === 'DeveloperName'
        ? row.name === value
        : field === 'EventChannel' && 'channelId' in row && row.channelId === value,
    );
    const records = found.map(({ id }) => ({ Id: id }));
    return { status: 200, body: { totalSize: records.length, done: true, records } };
  }

  create(kind: string, { body }: ServedRequest): ServedResponse {
    const id = kind === CHANNEL ? this.#createChannel(body) : this.#createMember(body);
    return { status: 201, body: { id, success: true, errors: [] } };
  }

  get(kind: string, id: string): ServedResponse {
    const row = this.#rows(kind).find((one) => one.id === id);
    if (!row) throw notFound();
    return { status: 200, body: { Id: row.id, DeveloperName: row.name } };
  }

  delete(kind: string, id: string): ServedResponse {
    this.get(kind, id);
    if (kind === CHANNEL) {
      if (this.members.some(({ channelId }) => channelId === id)) {
        throw new SalesforceRefusal(400, 'DEPENDENCY_EXISTS', 'The channel has members.');
      }
      this.channels = this.channels.filter((one) => one.id !== id);
    } else this.members = this.members.filter((one) => one.id !== id);
    return { status: 204 };
  }

  #rows(kind: string): (Channel | Member)[] {
    if (kind === CHANNEL) return this.channels;
    if (kind === 'PlatformEventChannelMember') return this.members;
    throw notFound();
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
    const channel = this.channels.find((one) => `${one.name}__chn` === Metadata.eventChannel);
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

const CHANNEL = 'PlatformEventChannel';

function topicOf({ name }: Channel): string {
  return `/data/${name}__chn`;
}

function notFound(): SalesforceRefusal {
  return new SalesforceRefusal(404, 'NOT_FOUND', 'The requested resource does not exist');
}
