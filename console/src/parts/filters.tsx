/** Filters live in the address: a page can be bookmarked and shared as it is. */
import { useLocation, useSearchParams } from 'wouter';
import { Choice } from './form.tsx';
import { wordsOf } from './status.tsx';

const ALL = 'ALL';

/** The value of a parameter of the address, if it is one of those that are known. */
export function useFilter<const Value extends string>(
  name: string,
  values: readonly Value[],
): [Value | null, (value: string) => void] {
  const [params, setParams] = useSearchParams();
  const given = params.get(name);
  const value = values.find((one) => one === given) ?? null;
  const change = (next: string) =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        if (next === ALL || next === '') after.delete(name);
        else after.set(name, next);
        return after;
      },
      { replace: true },
    );
  return [value, change];
}

interface FilterProps {
  label: string;
  values: readonly string[];
  value: string | null;
  onChange: (value: string) => void;
}

export function Filter({ label, values, value, onChange }: FilterProps) {
  const options = [
    { id: ALL, label: 'All' },
    ...values.map((one) => ({ id: one, label: wordsOf(one) })),
  ];
  return <Choice label={label} options={options} value={value ?? ALL} onChange={onChange} />;
}

/** A text of the address, like a reference to search for. */
export function useTextFilter(name: string): [string, (text: string) => void] {
  const [params, setParams] = useSearchParams();
  const change = (text: string) =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        if (text) after.set(name, text);
        else after.delete(name);
        return after;
      },
      { replace: true },
    );
  return [params.get(name) ?? '', change];
}

/** The address of a place in the project. */
export function useAddress(project: string): (path: string) => string {
  useLocation();
  return (path) => `/${encodeURIComponent(project)}${path ? `/${path}` : ''}`;
}
