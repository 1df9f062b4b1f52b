/** The calls of Salesforce's Pub/Sub API, each with its messages as they are on the wire. */
import { join } from 'node:path';
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

export interface ConsumerEvent {
  event: { id: string; schemaId: string; payload: Buffer };
  /** Opaque. */
  replayId: Buffer;
}

export interface FetchRequest {
  topicName?: string;
  replayPreset?: 'LATEST' | 'EARLIEST' | 'CUSTOM';
  replayId?: Buffer;
  numRequested: number;
}

export interface FetchResponse {
  events: ConsumerEvent[];
  latestReplayId: Buffer;
}

export interface PubSubService extends ServiceDefinition {
  Subscribe: MethodDefinition<FetchRequest, FetchResponse>;
  GetSchema: MethodDefinition<{ schemaId: string }, { schemaId: string; schemaJson: string }>;
  GetTopic: MethodDefinition<{ topicName: string }, { topicName: string; canSubscribe: boolean }>;
}

const definitions = loadSync(join(import.meta.dirname, 'pubsub_api.proto'), {
  enums: String,
  longs: String,
  // What is left out on the wire has its default.
  defaults: true,
});

export const PUB_SUB = definitions['eventbus.v1.PubSub'] as unknown as PubSubService;
