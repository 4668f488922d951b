// Compiled, never run: the types generated from the document are those a caller wants.

import type { components, paths } from "./schema";

type Quote = paths["/client/v1/fees/quote"]["post"];
type Transfer = paths["/client/v1/ach/transfers"]["post"];
type Payment = components["schemas"]["PreparedPayment"];

export const asDigits: Quote["requestBody"]["content"]["application/json"] = {
  amountMinor: "9007199254740993",
  currency: "USD",
};
export const asNumber: Quote["requestBody"]["content"]["application/json"] = { amountMinor: 1999, currency: "USD" };

// @ts-expect-error: a currency is required.
export const faulty: Quote["requestBody"]["content"]["application/json"] = { amountMinor: 1999 };

export function total(answer: Quote["responses"][200]["content"]["application/json"]): bigint {
  return BigInt(answer.data.totalDebitMinor);
}

export function isFresh(answer: Transfer["responses"][201]["content"]["application/json"]): boolean {
  return answer.success && !answer.data.replayed && answer.data.transaction.status === "processing";
}

export function why(failure: components["schemas"]["Failure"]): string {
  const code: components["schemas"]["ErrorCode"] = failure.error.code;
  return `${code}: ${failure.error.details.map(({ field, message }) => `${field} ${message}`).join(", ")}`;
}

// The component's type tells which fields there are.
export function secretOf({ component }: Payment): string | undefined {
  switch (component?.type) {
    case "card_provider_a_payment_element":
      return component.clientSecret;
    case "card_provider_b_web_payments":
      return component.locationId;
    default:
      return undefined;
  }
}
