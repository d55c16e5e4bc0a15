// Managed memory: a list that host and device build and walk by the same pointers, and variables of both.
#include "check.h"

struct Node {
    int value;
    Node *next;
};

__managed__ int total;
__managed__ Node *head;
__managed__ int seeds[4] = {3, 1, 4, 1};

__global__ void walk() {
    int sum = 0;
    for (Node *node = head; node; node = node->next) {
        sum += node->value;
        node->value *= 2;
    }
    total = sum + seeds[2];
}

__global__ void push(Node *node) {
    node->value = 100 + seeds[0];
    node->next = head;
    head = node;
}

int main() {
    int expected = 0;
    for (int i = 0; i < 10; i++) {
        Node *node;
        OK(cudaMallocManaged(&node, sizeof *node));
        node->value = i * i;
        node->next = head;
        head = node;
        expected += i * i;
    }
    seeds[2] = 1000;
    walk<<<1, 1>>>();
    OK(cudaDeviceSynchronize());
    EXPECT(total == expected + 1000);
    EXPECT(head->value == 2 * 81);
    Node *more;
    OK(cudaMallocManaged(&more, sizeof *more));
    push<<<1, 1>>>(more);
    OK(cudaDeviceSynchronize());
    EXPECT(head == more && head->value == 103 && head->next->value == 2 * 81);
    void *address = nullptr;
    int back[4] = {};
    OK(cudaGetSymbolAddress(&address, seeds));
    EXPECT(address == seeds);
    OK(cudaMemcpyFromSymbol(back, seeds, sizeof back));
    EXPECT(back[0] == 3 && back[2] == 1000);
    cudaPointerAttributes about;
    OK(cudaPointerGetAttributes(&about, more));
    EXPECT(about.type == cudaMemoryTypeManaged && about.devicePointer == more && about.hostPointer == more);
    int *array, wrong = 0;
    OK(cudaMallocManaged(&array, 400));
    OK(cudaMemset(array, 1, 400));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 100; i++) wrong += array[i] != 0x01010101;
    EXPECT(!wrong);
    OK(cudaFree(array));
    while (head) {
        Node *next = head->next;
        OK(cudaFree(head));
        head = next;
    }
    return end("managed");
}
