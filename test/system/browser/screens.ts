// The screens on which every page is tested.

export const screens = [
  ['desktop', 'light', { width: 1440, height: 900 }],
  ['desktop', 'dark', { width: 1440, height: 900 }],
  ['phone', 'light', { width: 390, height: 844 }],
  ['phone', 'dark', { width: 390, height: 844 }],
] as const;
