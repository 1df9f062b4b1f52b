import { getStatusClass, type Meters, measure } from '../../../../kernel/meters.ts';
import { inSpan } from '../../../../kernel/spans.ts';
import type { Provider } from '../../../../providers/contract.ts';
import { toProviderLabel } from '../../../access/catalog.ts';

interface CallLabels {
  meters: Meters;
  provider: Pick<Provider, 'name' | 'document'>;
  kind: 'api' | 'proxy' | 'token';
}

/**
 * Measures a request to a provider. Returns or throws the outcome of `send` unchanged. The duration of a forwarded
 * request ends when its response begins.
 */
export function measureCall<R extends { status: number }>(
  { meters, provider, kind }: CallLabels,
  send: () => Promise<R>,
): Promise<R> {
  const attributes = { 'gateway.provider': provider.name, 'gateway.provider.call': kind };
  const work = async () => {
    meters.activeChanged('providerCalls', 1);
    try {
      return await inSpan('provider call', { attributes }, send);
    } finally {
      meters.activeChanged('providerCalls', -1);
    }
  };
  return measure(meters, work, ({ result, outcome, seconds }) => {
    const outcomeLabel = result ? getStatusClass(result.status) : outcome;
    const label = toProviderLabel(provider);
    meters.providerCalled({ provider: label, kind, outcome: outcomeLabel, seconds });
  });
}
