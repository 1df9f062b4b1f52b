/** The texts of the operations, for people who want to read them. Pages send only their IDs. */
import { useEffect, useState } from 'react';
import { BASE } from './connection-state.ts';

type Documents = Record<string, string>;
let loading: Promise<Documents> | undefined;

/** One promise for all pages of a tab. A failed load is repeated at the next use. */
function readDocuments(): Promise<Documents> {
  loading ??= fetch(`${BASE}/console/documents.json`)
    .then((response) => response.json())
    .catch(() => {
      loading = undefined;
      return {};
    });
  return loading;
}

/** Null until loaded. */
export function useDocument(id: string): string | null {
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    let isUnmounted = false;
    void readDocuments().then((documents) => {
      if (!isUnmounted) setText(documents[id] ?? null);
    });
    return () => {
      isUnmounted = true;
    };
  }, [id]);
  return text;
}
