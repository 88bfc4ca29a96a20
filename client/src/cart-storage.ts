// Where the cart is kept: in IndexedDB, whose transactions run one after the other in all tabs of a browser. A tab can
// read a value of `localStorage` that another tab has already replaced.

export interface CartStorage {
  /** Stores what `change` makes of the stored text, and returns it. No other change happens in between. */
  update(change: (text: string | undefined) => string): Promise<string>;
  /** Calls the listener after each change by another tab. */
  watch(listener: () => void): void;
}

/** Returns the storage of the browser, or the memory where there is none. */
export function openCartStorage(name: string): CartStorage {
  return typeof indexedDB === 'undefined' ? memoryStorage() : browserStorage(name);
}

export function memoryStorage(): CartStorage {
  let text: string | undefined;
  const listeners = new Set<() => void>();
  return {
    async update(change) {
      const before = text;
      text = change(before);
      if (text !== before) for (const listener of listeners) listener();
      return text;
    },
    watch: (listener) => void listeners.add(listener),
  };
}

const database = 'shop';
const table = 'carts';

function browserStorage(name: string): CartStorage {
  const channel = new BroadcastChannel(`${database} ${name}`);
  const memory = memoryStorage();
  let opened: Promise<IDBDatabase | undefined> | undefined;
  const open = async (): Promise<IDBDatabase> => {
    const request = indexedDB.open(database, 1);
    request.onupgradeneeded = () => void request.result.createObjectStore(table);
    return resultOf(request);
  };
  return {
    async update(change) {
      // A browser whose user blocks the data of sites refuses to open the database.
      opened ??= open().catch(() => undefined);
      const stored = await opened;
      if (stored === undefined) return memory.update(change);
      const transaction = stored.transaction(table, 'readwrite');
      const carts = transaction.objectStore(table);
      const done = new Promise<void>((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
      });
      const before = await resultOf<string | undefined>(carts.get(name));
      const after = change(before);
      if (after !== before) carts.put(after, name);
      await done;
      if (after !== before) channel.postMessage(undefined);
      return after;
    },
    watch(listener) {
      channel.onmessage = () => listener();
    },
  };
}

function resultOf<Value>(request: IDBRequest<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
