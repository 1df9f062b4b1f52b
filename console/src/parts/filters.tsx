/** Filters of lists. They are stored in the URL, so that people can bookmark and share a filtered page. */
import { useMemo } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { Choice, SearchInput, TimeInput } from './form.tsx';
import { getIntegrationName, type NamedIntegration } from './integration-name.ts';
import { formatWords } from './status.tsx';

const ALL = 'ALL';

/** Returns the values in the URL, and a function that sets values. An empty value is removed from the URL. */
export function useParameters(): [URLSearchParams, (changed: Record<string, string>) => void] {
  const [params, setParams] = useSearchParams();
  const change = (changed: Record<string, string>) =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changed)) {
          if (value) after.set(name, value);
          else after.delete(name);
        }
        return after;
      },
      { replace: true },
    );
  return [params, change];
}

/** Returns the value of a URL parameter if it is one of the allowed values. */
export function useFilter<const Value extends string>(
  name: string,
  values: readonly Value[],
): Value | null {
  const [params] = useParameters();
  const parameter = params.get(name);
  return values.find((value) => value === parameter) ?? null;
}

interface FilterProps {
  /** The name of the URL parameter. */
  name: string;
  label: string;
  values: readonly string[];
  /** Returns the label of a value. */
  formatValue?: (value: string) => string;
  isDisabled?: boolean;
}

export function Filter(props: FilterProps) {
  const { name, label, values, formatValue = formatWords, isDisabled = false } = props;
  const value = useFilter(name, values);
  const options = values.map((id) => ({ id, label: formatValue(id) }));
  return (
    <OptionFilter
      name={name}
      label={label}
      options={options}
      value={value ?? ''}
      isDisabled={isDisabled}
    />
  );
}

interface IntegrationFilterProps {
  integrations: readonly NamedIntegration[];
}

/** If the URL names an integration that no longer exists, the integration is still an option. */
export function IntegrationFilter({ integrations }: IntegrationFilterProps) {
  const value = useTextFilter('integration') ?? '';
  const options = integrations.map((integration) => ({
    id: integration.name,
    label: getIntegrationName(integration),
  }));
  if (value !== '' && options.every(({ id }) => id !== value)) {
    options.push({ id: value, label: value });
  }
  return <OptionFilter name="integration" label="Integration" options={options} value={value} />;
}

/** Shows the consumer that the URL names, and lets the user remove the filter. Shows nothing without one. */
export function ConsumerFilter({ isDisabled }: { isDisabled: boolean }) {
  const consumerRef = useTextFilter('consumer');
  if (consumerRef === null) return null;
  return (
    <OptionFilter
      name="consumer"
      label="Consumer"
      options={[{ id: consumerRef, label: consumerRef }]}
      value={consumerRef}
      isDisabled={isDisabled}
    />
  );
}

interface OptionFilterProps {
  name: string;
  label: string;
  options: readonly { id: string; label: string }[];
  /** Empty for all. */
  value: string;
  isDisabled?: boolean;
}

function OptionFilter({ name, label, options, value, isDisabled = false }: OptionFilterProps) {
  const [, change] = useParameters();
  return (
    <Choice
      label={label}
      options={[{ id: ALL, label: 'All' }, ...options]}
      value={value || ALL}
      onChange={(id) => change({ [name]: id === ALL ? '' : id })}
      isDisabled={isDisabled}
    />
  );
}

/** Returns a text from the URL, such as the name of an integration. Null if it is absent. */
export function useTextFilter(name: string): string | null {
  const [params] = useParameters();
  return params.get(name) || null;
}

const SEARCH = 'search';
const SEARCH_LENGTH_MAX = 64;

/**
 * The search of a list. The gateway searches the complete list, so other filters are disabled during a
 * search.
 */
export function useSearch(): { search: string | null; isSearching: boolean } {
  const text = useTextFilter(SEARCH) ?? '';
  const search = text.trim().slice(0, SEARCH_LENGTH_MAX) || null;
  return { search, isSearching: search !== null };
}

export function Search({ label = 'Search' }: { label?: string }) {
  const [params, change] = useParameters();
  const text = params.get(SEARCH) ?? '';
  return <SearchInput label={label} value={text} onChange={(next) => change({ [SEARCH]: next })} />;
}

/** Lengths of periods that end now, in hours. */
const RECENT: Record<string, { label: string; hours: number }> = {
  hour: { label: 'Last hour', hours: 1 },
  day: { label: 'Last 24 hours', hours: 24 },
  week: { label: 'Last 7 days', hours: 168 },
};
const CUSTOM = 'chosen';
const TIMES = [
  { id: ALL, label: 'All' },
  ...Object.entries(RECENT).map(([id, { label }]) => ({ id, label })),
  { id: CUSTOM, label: 'Custom range' },
];
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

interface TimeRange {
  from: string | null;
  until: string | null;
}

/** Returns the period in the URL, from `time=day` or `from=` and `until=`. Null if it is absent. */
export function useTimeRange(): TimeRange | null {
  const [params] = useParameters();
  const hours = RECENT[params.get('time') ?? '']?.hours;
  const [from, until] = [parseTime(params.get('from')), parseTime(params.get('until'))];
  return useMemo(() => {
    if (from !== null || until !== null) return { from, until };
    if (hours === undefined) return null;
    // The time is rounded up to the minute, so that a page that is opened again finds its cached query.
    const now = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
    return { from: new Date(now - hours * HOUR_MS).toISOString(), until: null };
  }, [hours, from, until]);
}

function parseTime(text: string | null): string | null {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

interface TimeFilterProps {
  /** The name of the filtered time, as in the column of the list. Default: Created. */
  label?: string;
  isDisabled?: boolean;
}

export function TimeFilter({ label = 'Created', isDisabled = false }: TimeFilterProps) {
  const [params, change] = useParameters();
  const isCustom = params.has('from') || params.has('until') || params.get('time') === CUSTOM;
  const value = isCustom ? CUSTOM : (params.get('time') ?? ALL);
  const choose = (time: string) => change({ time: time === ALL ? '' : time, from: '', until: '' });
  return (
    <>
      <Choice
        label={label}
        options={TIMES}
        value={value}
        onChange={choose}
        isDisabled={isDisabled}
      />
      {isCustom &&
        (['from', 'until'] as const).map((name) => (
          <TimeInput
            key={name}
            label={formatWords(name)}
            value={parseTime(params.get(name))}
            onChange={(time) => change({ time: CUSTOM, [name]: time ?? '' })}
            isDisabled={isDisabled}
          />
        ))}
    </>
  );
}

/** Returns a function that creates links to pages of the project. */
export function useProjectLink(project: string): (path: string) => string {
  useLocation();
  return (path) => `/${encodeURIComponent(project)}${path ? `/${path}` : ''}`;
}
