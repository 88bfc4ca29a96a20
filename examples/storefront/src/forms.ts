// Forms: fields with labels, one submission at a time, and each refusal beside its field.
import { isShopError } from '@shop/client';
import { type Child, h, type Properties } from './dom.ts';
import { explain, notice } from './states.ts';
import { t } from './texts/customers.ts';

export type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
export type Values = Readonly<Record<string, string>>;

/** Field names by the codes of refusals that name no place in the request. */
export type Places = Readonly<Record<string, string>>;

let fields = 0;

/**
 * A text field with a label.
 * @param name the place of the value in the request, such as `shipping_address/city`
 */
export function field(
  name: string,
  label: string,
  { hint, ...more }: Properties & { hint?: string } = {},
): HTMLElement {
  return labelled(h('input', { name, dir: 'auto', maxlength: 200, ...more }), label, hint);
}

/** A control with a label, and a place for what is wrong with its value. */
export function labelled(control: Control, label: string, hint?: string): HTMLElement {
  fields += 1;
  control.id ||= `field-${fields}`;
  const hintId = `${control.id}-hint`;
  if (hint !== undefined) control.setAttribute('aria-describedby', hintId);
  return h('div', { class: 'field' }, [
    h('label', { for: control.id }, label),
    control,
    hint !== undefined && h('span', { class: 'hint', id: hintId }, hint),
  ]);
}

/** The account whose password the form asks for. Password managers need it. */
export function usernameField(email: string): HTMLElement {
  return h('input', {
    type: 'text',
    autocomplete: 'username',
    value: email,
    hidden: true,
    readonly: true,
    'aria-label': t.email,
  });
}

/** The field of a password that the customer chooses. */
export function newPasswordField(label: string): HTMLElement {
  return field('password', label, {
    type: 'password',
    autocomplete: 'new-password',
    required: true,
    maxlength: 128,
    hint: t.newPasswordHint,
  });
}

export interface FormOptions {
  readonly button: string;
  readonly kind?: 'primary' | 'danger' | 'quiet';
  readonly places?: Places;
  /** Sends the form. The result is shown as its success. */
  send(values: Values): Promise<Child | undefined>;
}

/** A form that is sent once at a time. */
export function form(
  { button, kind = 'primary', places = {}, send }: FormOptions,
  ...content: readonly Child[]
): HTMLFormElement {
  const submit = h('button', { type: 'submit', class: kind }, button);
  const outcome = h('div', { class: 'outcome' });
  const onsubmit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (submit.getAttribute('aria-disabled') === 'true') return;
    clearFaults(element);
    outcome.replaceChildren();
    if (!checkRequired(element)) return;
    submit.setAttribute('aria-disabled', 'true');
    try {
      const done = await send(valuesOf(element));
      if (done !== undefined) outcome.replaceChildren(notice('success', done));
    } catch (error) {
      outcome.replaceChildren(...showRefusal(element, error, places));
    } finally {
      submit.removeAttribute('aria-disabled');
    }
  };
  const element = h('form', { class: 'form', novalidate: true, onsubmit }, content, outcome, submit);
  return element;
}

/** A button whose action runs once at a time. Why it failed is shown in `outcome`. */
export function actionButton(
  text: string,
  action: () => Promise<unknown>,
  outcome: HTMLElement,
  properties: Properties = {},
): HTMLButtonElement {
  const onclick = async (): Promise<void> => {
    if (button.getAttribute('aria-disabled') === 'true') return;
    button.setAttribute('aria-disabled', 'true');
    outcome.replaceChildren();
    await action().catch((error: unknown) => outcome.replaceChildren(notice('danger', explain(error))));
    button.removeAttribute('aria-disabled');
  };
  const button = h('button', { type: 'button', onclick, ...properties }, text);
  return button;
}

/** Returns the texts of the fields by name, without surrounding blanks. Passwords stay as they are. */
export function valuesOf(element: HTMLFormElement): Values {
  return Object.fromEntries(
    controls(element).map((control) => [
      control.name,
      control.type === 'password' ? control.value : control.value.trim(),
    ]),
  );
}

/** Marks each empty field that is required, and moves the focus to the first one. @returns whether all are filled in */
export function checkRequired(element: HTMLFormElement): boolean {
  const missing = controls(element).filter(({ required, value }) => required && value.trim() === '');
  for (const control of missing) showFault(control, t.required);
  missing[0]?.focus();
  return missing.length === 0;
}

/** Shows the faults of a refusal beside their fields. @returns what has no field, to be shown near the button */
export function showRefusal(element: HTMLFormElement, error: unknown, places: Places = {}): HTMLElement[] {
  const { errors = [], code = '', detail = '' } = (isShopError(error) ? error.problem : undefined) ?? {};
  const place = places[code];
  const faults = place === undefined ? errors : [{ pointer: `/${place}`, detail: errors[0]?.detail ?? detail }];
  const placed = faults.filter(({ pointer = '', detail: text }) => {
    const control = controls(element).find(({ name }) => name === pointer.slice(1));
    if (control !== undefined) showFault(control, text);
    return control !== undefined;
  });
  element.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  if (placed.length > 0 && placed.length === faults.length) return [];
  return [notice('danger', explain(error))];
}

export function showFault(control: Control, text: string): void {
  const id = `${control.id}-fault`;
  document.getElementById(id)?.remove();
  control.setAttribute('aria-invalid', 'true');
  describe(control, id, true);
  // The shop describes the value: `must have at least 8 characters`.
  control.after(h('span', { class: 'fault', id, dir: 'auto' }, text.charAt(0).toUpperCase() + text.slice(1)));
}

export function clearFaults(element: HTMLElement): void {
  for (const control of element.querySelectorAll<Control>('[aria-invalid]')) {
    control.removeAttribute('aria-invalid');
    describe(control, `${control.id}-fault`, false);
  }
  for (const fault of element.querySelectorAll('.fault')) fault.remove();
}

function describe(control: Control, id: string, isDescribed: boolean): void {
  const ids = (control.getAttribute('aria-describedby') ?? '').split(' ').filter((each) => each !== '' && each !== id);
  const all = isDescribed ? [...ids, id] : ids;
  if (all.length === 0) control.removeAttribute('aria-describedby');
  else control.setAttribute('aria-describedby', all.join(' '));
}

function controls(element: HTMLFormElement): Control[] {
  return [...element.querySelectorAll<Control>('input[name], select[name], textarea[name]')];
}
