/** An object with some of its members replaced; all others, those that it may gain too, are its own. */
export const overlaid = <T extends object>(target: T, own: Partial<T>): T =>
  new Proxy(target, {
    get(of, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof T];
      const value: unknown = Reflect.get(of, name);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
